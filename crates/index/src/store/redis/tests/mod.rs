//! The store against real servers.

mod conform;
mod damage;
mod faults;
mod lab;
mod moves;
mod proxy;
mod shared;
