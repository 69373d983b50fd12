//! What several tests share.
#![allow(dead_code, reason = "not every test program uses all of it")]

pub mod conformance;
pub mod deployment;
pub mod drill;
pub mod edge_server;
pub mod edges;
pub mod etcd_server;
pub mod gateway;
pub mod golden;
pub mod history;
pub mod http;
pub mod late_holder;
pub mod one_server;
pub mod pause_drill;
pub mod place;
pub mod played_director;
pub mod postgres_server;
pub mod proxy;
pub mod redis_lab;
pub mod redis_server;
pub mod scripted;
pub mod scripted_lab;
pub mod shipped;
pub mod stores;
pub mod told_sentinel;
pub mod zookeeper_server;
