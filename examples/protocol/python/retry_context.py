"""Keeps the retry protocol: the retries of a chain of services do not multiply."""
import collections, contextlib, contextvars, hashlib, http.client, ipaddress, itertools, math, random
import re, time, urllib.error, urllib.parse, urllib.request

FIELD, MAX_BYTES, MAX_NAMES, MAX_KNOWN, MAX_LEFT = "Retry-Context", 2048, 16, 64, 10**11
LIFETIME, MAX_DELAY, MAX_AFTER, MAX_TIMEOUT = 60, 30, 60, 10**6  # seconds
_KEY = r"[a-z*][a-z0-9_\-.*]*"  # The grammar of RFC 9651 is regular.
_BARE = (r'(?:-?(?:[0-9]{1,12}\.[0-9]{1,3}|[0-9]{1,15})(?![0-9.])|"(?:[ !#-\[\]-~]|\\["\\])*"'
         r"|[A-Za-z*][!#$%&'*+\-.^_`|~0-9A-Za-z:/]*|:[A-Za-z0-9+/=]*:|\?[01]"
         r'|@-?[0-9]{1,15}(?![0-9.])|%"(?:[ !#$&-~]|%[0-9a-f]{2})*")')
_PARAMS = f"(?:; *{_KEY}(?:={_BARE})?)*"
_INNER = rf"\( *(?:{_BARE}{_PARAMS}(?: +{_BARE}{_PARAMS})* *)?\)"
_MEMBER = re.compile(rf"({_KEY})(?:=({_INNER}|{_BARE}))?{_PARAMS}[ \t]*(?:,[ \t]*(?!\Z)|\Z)")
_ITEM = re.compile(f"({_BARE}){_PARAMS}")
_PATH = re.compile(r"[A-Za-z0-9_-]{1,16}(?:\.[A-Za-z0-9_-]{1,16}){0,7}")
# Resolvers read "2130706433" and "0x7f.1" as addresses, though they look like names.
_OWN_NAME = re.compile(
    r"(?!(.*\.)?([0-9]+|0x[0-9a-f]*)\Z)([^.:]+|.+\.(local|internal|svc|localhost|test))")
_OWN_NETWORKS = list(map(ipaddress.ip_network, """127.0.0.0/8 10.0.0.0/8 172.16.0.0/12
    192.168.0.0/16 100.64.0.0/10 169.254.0.0/16 ::1/128 fc00::/7 fe80::/10""".split()))

def parse(value):
    """Returns what the field of a request or an answer says; what is missing has its default."""
    text = value.lstrip(" ") if isinstance(value, str) and len(value) <= MAX_BYTES else ""
    members, at = {}, 0
    while at < len(text) and (match := _MEMBER.match(text, at)):
        members[match[1]], at = match[2] or "?1", match.end()
    members = members if at == len(text) else {}
    numbers = {key: float(raw) for key, raw in members.items() if re.match(r"[0-9]|-[0.]+\Z", raw)}
    attempt, used = members.get("attempt", ""), members.get("used", "")
    items = _ITEM.findall(used[1:-1])[:MAX_NAMES] if used.startswith("(") else []
    names = [item[1:-1] for item in items if item[0] == '"' and _PATH.fullmatch(item[1:-1])]
    return {"left": numbers.get("left", math.inf), "low": members.get("priority") == "low",
            "attempt": 1 if "." in attempt else max(1, int(numbers.get("attempt", 1))),
            "used": list(dict.fromkeys(names)) if len(names) == len(items) else [],
            "after": numbers.get("after", 0), "final": members.get("final") == "?1",
            "expired": members.get("expired") == "?1"}

def write(left=math.inf, attempt=None, used=(), low=False, after=0, final=False):
    """Returns a field's value, or None if it says nothing; times in ms, `used` from old to new."""
    names = [f'"{name}"' for name in reversed(list(used))][:MAX_NAMES]
    while len(" ".join(names)) > MAX_BYTES - 128:  # Sixteen of the longest paths are too long.
        del names[-1]
    return ", ".join(filter(None, (
        left < math.inf and f"left={math.floor(min(left, MAX_LEFT) * 1000) / 1000:.3f}", low and "priority=low",
        attempt and f"attempt={attempt}", names and f"used=({' '.join(names)})",
        after > 0 and f"after={math.ceil(min(after, MAX_LEFT))}", final and "final"))) or None

Call = collections.namedtuple("Call", "parent deadline attempt low marks learned")
current = contextvars.ContextVar("call", default=Call(None, math.inf, 1, False, {}, {}))

def _part(text):
    return hashlib.sha256(text.encode()).hexdigest()[:8]

def _fresh(marks):
    times = sorted(list(marks.items()), key=lambda mark: mark[1])
    return [name for name, at in times if at > time.monotonic() - LIFETIME]

def _learn(call, names):
    while call.parent and names:  # What is outside of every call learns nothing.
        call.learned.update(dict.fromkeys(names, time.monotonic()))
        known, edge = _fresh(call.learned), names[0].partition(".")[0]
        same = [name for name in known if name.partition(".")[0] == edge]
        for name in set(call.learned) - set(known[-MAX_KNOWN**2:]) | set(same[:-MAX_KNOWN]):
            call.learned.pop(name, None)
        call = call.parent

@contextlib.contextmanager
def within(seconds=math.inf, low=False, **changes):
    """Bounds the time of the calls made in its body, and lets others go before them if `low`."""
    outer = current.get()
    changes = {"deadline": min(outer.deadline, time.monotonic() + seconds), "learned": {}, **changes}
    token = current.set(outer._replace(parent=outer, low=outer.low or low, **changes))
    try:
        yield current.get()
    finally:
        current.reset(token)

def retry(name, attempts, function, base=0.1):
    """Returns what `function` returns, after up to `attempts` attempts; `base` is in seconds."""
    outer, own, learned = current.get(), _part(name), {}
    attempts = 1 if own in _fresh(outer.marks) else attempts
    for number in itertools.count(1):
        attempt, marks = max(number, outer.attempt), outer.marks | learned
        try:
            with within(attempt=attempt, marks=marks, learned=learned):
                return function()
        except Exception as error:
            if getattr(error, "final", False):
                raise
            delay = random.uniform(0, min(MAX_DELAY, base * 2 ** min(number - 1, 30)))
            delay = max(delay, min(MAX_AFTER, getattr(error, "after", 0) or 0))
            if number >= attempts or time.monotonic() + delay >= outer.deadline:
                _learn(outer, [own])
                raise
        time.sleep(delay)

class CallFailed(Exception):
    """A call without an answer, or with one of status 500 or above; `after` is in seconds."""
    def __init__(self, message, final=False, after=0):
        super().__init__(message)
        self.final, self.after = final, after

def is_own(host):
    """Returns whether a host, given by name or address, is of the own system."""
    host = (host or "").lower().removeprefix("::ffff:").removesuffix(".")
    try:
        return any(ipaddress.ip_address(host) in network for network in _OWN_NETWORKS)
    except ValueError:
        return _OWN_NAME.fullmatch(host) is not None

def send(url, own=None, **options):
    """Returns the answer to a request with these options of `urllib.request.Request`."""
    request, parts = urllib.request.Request(url, **options), urllib.parse.urlsplit(url)
    call, edge = current.get(), _part(parts.netloc.rpartition("@")[2].lower()) + "."
    own = is_own(parts.hostname) if own is None else own
    if (left := call.deadline - time.monotonic()) <= 0:
        raise CallFailed(f"{url}: the deadline is over")
    used = [name.removeprefix(edge) for name in _fresh(call.marks) if name.startswith(edge)]
    if own and (value := write(left * 1000, call.attempt, used, call.low)):
        request.add_unredirected_header(FIELD, value)  # A redirect may lead to another host.
    try:
        answer = urllib.request.urlopen(request, timeout=min(left, MAX_TIMEOUT))
    except urllib.error.HTTPError as error:
        answer = error
    except (OSError, http.client.HTTPException) as error:
        raise CallFailed(f"{url}: {error}") from error
    own = own and urllib.parse.urlsplit(answer.url).netloc == parts.netloc
    said = parse(", ".join(answer.headers.get_all(FIELD, []) if own else []))
    _learn(call, [path for name in reversed(said["used"]) if _PATH.fullmatch(path := edge + name)])
    if answer.status >= 500:
        answer.close()
        raise CallFailed(f"{url}: {answer.status}", said["final"], said["after"] / 1000)
    return answer

def served(method):
    """Returns a handler's method that runs `method(handler, answer)`; `answer` writes the field."""
    def handle(handler):
        own = is_own(handler.client_address[0]) and FIELD in handler.headers
        said = parse(", ".join(handler.headers.get_all(FIELD, []) if own else []))
        if said["left"] == 0:
            handler.send_response(504)
            handler.send_header(FIELD, "expired")
            handler.send_header("Connection", "close")
            return handler.end_headers()
        marks = dict.fromkeys(said["used"] if said["attempt"] > 1 else (), time.monotonic())
        with within(said["left"] / 1000, said["low"], attempt=said["attempt"], marks=marks) as call:
            method(handler, lambda **said: write(used=_fresh(call.learned), **said) if own else None)
    return handle
