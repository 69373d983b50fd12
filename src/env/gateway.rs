//! A stranger who tries an edge to a gateway, and leaves a name that it remembers if that arrived. No
//! resource is touched.

use super::json_asked::post;
use crate::store::http::words::{Answer, PATH, Question};
use std::io;
use std::net::SocketAddr;
use tokio::net::TcpStream;

/// Opens a connection and has one question answered.
///
/// # Errors
/// When it breaks, or the answer is none of a gateway.
pub async fn enter(address: SocketAddr) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    asked(&mut stream, &Question::Remembers(String::new())).await?;
    Ok(stream)
}

/// Takes a name.
///
/// # Errors
/// When the connection breaks.
pub async fn take_name(stream: &mut TcpStream, name: &str) -> io::Result<()> {
    let question = Question::Remember(name.to_owned());
    asked(stream, &question).await.map(drop)
}

/// Whether the gateway at its own address knows somebody of this name.
///
/// # Errors
/// When it cannot be asked.
pub async fn is_known(direct: SocketAddr, name: &str) -> io::Result<bool> {
    let mut stream = enter(direct).await?;
    let question = Question::Remembers(name.to_owned());
    Ok(matches!(asked(&mut stream, &question).await?, Answer::Yes))
}

async fn asked(stream: &mut TcpStream, question: &Question) -> io::Result<Answer> {
    let question = serde_json::to_value(question).map_err(io::Error::other)?;
    let answer = post(stream, PATH, &question).await?;
    serde_json::from_value(answer).map_err(io::Error::other)
}
