//! Playing an exchange to a client, while watching whether it is still there.

use std::io;

use tokio::net::TcpStream;

use crate::exchange::{Ending, Exchange};
use crate::journal::Ticket;
use crate::request::Inbox;
use crate::scenario::Scenario;
use crate::script::{Block, Step};

/// What happens to the connection after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    KeepAlive,
    Close,
    Reset,
}

pub(crate) async fn answer(
    stream: &TcpStream,
    inbox: &mut Inbox,
    scenario: &Scenario,
    exchange: &Exchange,
    ticket: &Ticket,
) -> Next {
    tokio::select! {
        biased;
        () = inbox.closed(stream) => {
            ticket.disconnected();
            Next::Close
        }
        played = play(stream, scenario, exchange, ticket) => match played {
            Ok(next) => next,
            Err(_) => {
                ticket.disconnected();
                Next::Close
            }
        },
    }
}

async fn play(
    stream: &TcpStream,
    scenario: &Scenario,
    exchange: &Exchange,
    ticket: &Ticket,
) -> io::Result<Next> {
    if exchange.stall_before_head {
        return std::future::pending().await;
    }
    for step in &exchange.steps {
        match step {
            Step::Pause(duration) => tokio::time::sleep(*duration).await,
            Step::WaitFor(label) => scenario.signalled(label).await,
            Step::Write {
                block,
                times,
                pause,
            } => {
                for turn in 0..*times {
                    if let (Some(pause), true) = (pause, turn > 0) {
                        tokio::time::sleep(*pause).await;
                    }
                    write_block(stream, block, ticket).await?;
                }
            }
            Step::Last(block) => write_last_block(stream, block, ticket).await?,
        }
    }
    match exchange.then {
        Ending::End if exchange.keep_alive => Ok(Next::KeepAlive),
        Ending::End | Ending::Close => Ok(Next::Close),
        Ending::Reset => Ok(Next::Reset),
        Ending::Stall => std::future::pending().await,
    }
}

async fn write_block(stream: &TcpStream, block: &Block, ticket: &Ticket) -> io::Result<()> {
    for (index, segment) in block.segments().enumerate() {
        if index > 0 {
            // Gives a reading client the chance to see each segment alone.
            tokio::task::yield_now().await;
        }
        write(stream, segment, ticket).await?;
    }
    Ok(())
}

async fn write_last_block(stream: &TcpStream, block: &Block, ticket: &Ticket) -> io::Result<()> {
    let mut segments = block.segments().peekable();
    while let Some(segment) = segments.next() {
        if segments.peek().is_some() {
            write(stream, segment, ticket).await?;
            tokio::task::yield_now().await;
        } else {
            write_last(stream, segment, ticket).await?;
        }
    }
    Ok(())
}

async fn write(stream: &TcpStream, mut bytes: &[u8], ticket: &Ticket) -> io::Result<()> {
    while !bytes.is_empty() {
        // A write that succeeds at once never yields by itself, and the
        // watcher must get its turn in a long stream, too.
        tokio::task::consume_budget().await;
        match stream.try_write(bytes) {
            Ok(count) => {
                ticket.wrote(count);
                bytes = bytes.get(count..).unwrap_or_default();
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => stream.writable().await?,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes the last bytes of an answer and marks it answered.
pub(crate) async fn write_last(
    stream: &TcpStream,
    mut bytes: &[u8],
    ticket: &Ticket,
) -> io::Result<()> {
    loop {
        let attempt = ticket.finish(|| {
            let count = stream.try_write(bytes)?;
            ticket.wrote(count);
            bytes = bytes.get(count..).unwrap_or_default();
            Ok::<_, io::Error>(bytes.is_empty())
        });
        match attempt {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => stream.writable().await?,
            Err(error) => return Err(error),
        }
    }
}
