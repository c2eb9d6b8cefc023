//! Of the arms of a match, some move a part of a parameter.

use reattempt::retry;

enum Route {
    Random,
    Node(u32),
    Direct { id: String, port: u16 },
}

#[retry(max = 3, on(_))]
async fn connect(route: Route) -> Result<(String, u16), String> {
    let route = match route {
        Route::Random => return Err("none".into()),
        Route::Node(route) => route,
        Route::Direct { id, port } => return Ok((id, port)),
    };
    Ok((String::new(), route as u16))
}

fn main() {}
