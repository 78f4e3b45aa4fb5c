//! Decoders of others, which say by a panic that bytes are damaged.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use super::format::Format;
use super::reject::RejectReason;

thread_local! {
    /// A decoder is at work on this thread: its panics are answers.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// What a decoder says about damaged bytes, also when it says it by a panic. Nothing of that is printed.
pub fn guarded<T, E: std::fmt::Display>(
    format: Format,
    decode: impl FnOnce() -> std::result::Result<T, E>,
) -> std::result::Result<T, RejectReason> {
    keep_quiet();
    let before = IS_GUARDED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(decode));
    IS_GUARDED.set(before);
    match outcome {
        Ok(Ok(decoded)) => Ok(decoded),
        Ok(Err(error)) => Err(RejectReason::damaged(format, error)),
        Err(panic) => Err(RejectReason::damaged(format, said(panic))),
    }
}

/// All other panics are printed as before.
fn keep_quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                others(panic);
            }
        }));
    });
}

fn said(panic: Box<dyn Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(message) => *message,
        Err(panic) => panic.downcast_ref::<&str>().unwrap_or(&"the decoder gave up").to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decoder_that_panics_has_said_why_and_others_are_heard() {
        let told = guarded(Format::Arrow, || -> Result<(), String> { panic!("no such {}", "place") });
        assert!(told.unwrap_err().to_string().contains("no such place"));
        assert!(!IS_GUARDED.get(), "what comes later is told again");
        assert_eq!(guarded(Format::Arrow, || Ok::<_, String>(7)).unwrap(), 7);
    }
}
