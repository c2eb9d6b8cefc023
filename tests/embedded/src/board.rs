//! What the core needs to start, and how it reaches the emulator.

use core::arch::{asm, global_asm};
use core::fmt::{self, Write as _};
use core::panic::PanicInfo;
use core::ptr;

// The vectors of the core: its stack, the start, faults, and the interrupt of the timer in the last place. Then the start, which
// copies what is not zero into the memory.
global_asm!(
    ".section .vectors, \"a\"",
    ".word stack",
    ".word start",
    ".rept 13",
    ".word {fault}",
    ".endr",
    ".word {tick}",
    ".text",
    ".thumb_func",
    ".global start",
    "start:",
    "ldr r0, =data",
    "ldr r1, =data_end",
    "ldr r2, =data_from",
    "1: cmp r0, r1",
    "itttt lo",
    "ldrlo r3, [r2]",
    "strlo r3, [r0]",
    "addlo r2, 4",
    "addlo r0, 4",
    "blo 1b",
    "ldr r0, =bss",
    "ldr r1, =bss_end",
    "movs r2, 0",
    "2: cmp r0, r1",
    "itt lo",
    "strlo r2, [r0]",
    "addlo r0, 4",
    "blo 2b",
    "bl {run}",
    fault = sym fault,
    tick = sym crate::timer::tick,
    run = sym run,
);

/// The timer of the core: its control, and from where it counts down.
const TIMER: (*mut u32, *mut u32) = (0xE000_E010_u32 as _, 0xE000_E014_u32 as _);

/// The clock of the board, 25 MHz.
const TICKS_IN_A_MILLI: u32 = 25_000;

extern "C" fn run() -> ! {
    // SAFETY: these are registers of each Cortex-M4.
    unsafe {
        ptr::write_volatile(TIMER.1, TICKS_IN_A_MILLI - 1);
        ptr::write_volatile(TIMER.0, 0b111);
    }
    crate::main();
    _ = writeln!(Host, "embedded: passed");
    exit(true)
}

extern "C" fn fault() {
    _ = writeln!(Host, "a fault of the processor");
    exit(false)
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    _ = writeln!(Host, "{info}");
    exit(false)
}

pub fn wait_for_interrupt() {
    // SAFETY: it has no effect but that time passes.
    unsafe { asm!("wfi") }
}

/// The console of the emulator.
struct Host;

impl fmt::Write for Host {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            call_host(0x03, &raw const byte as u32);
        }
        Ok(())
    }
}

fn exit(is_success: bool) -> ! {
    // Any other reason than this one is a failure.
    call_host(0x18, if is_success { 0x20026 } else { 0 });
    loop {}
}

/// A call of the emulator, by ARM's convention for semihosting.
fn call_host(number: u32, argument: u32) {
    // SAFETY: the emulator reads the byte that is named, and changes nothing.
    unsafe { asm!("bkpt 0xab", inout("r0") number => _, in("r1") argument) }
}
