//! Pictures as fields, on pictures that are drawn here.
#![cfg(feature = "image")]

mod damage;
mod files;
mod scene;
mod similar;
