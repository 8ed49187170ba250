//! What a policy means in the language of Seatbelt.

use std::fmt::Write;
use std::path::Path;

use crate::error::{Error, ErrorKind, Result};
use crate::sandbox::access::{Access, RootFilesystem};
use crate::sandbox::grant::Grant;

/// A Seatbelt profile: everything is denied but what follows. Of several rules for one path the last counts.
#[derive(Debug)]
pub struct SeatbeltProfile<'a> {
    /// What there is beyond the grants.
    pub root_filesystem: RootFilesystem,
    /// The directories that are open.
    pub grants: &'a [Grant],
    /// A folder for temporary files.
    pub scratch: &'a Path,
    /// Whether the network of the host is there.
    pub network: bool,
    /// Whether programs may start others.
    pub subprocesses: bool,
}

/// What every program needs to get going, without any file of a user.
const BASE: &str = r#"(version 1)
(deny default)
(allow process-exec)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow file-read-metadata)
(allow file-read-data (literal "/"))
(allow file-read* file-write-data
  (literal "/dev/null")
  (literal "/dev/zero")
  (literal "/dev/dtracehelper")
  (literal "/dev/tty"))
(allow file-read* (literal "/dev/random") (literal "/dev/urandom"))
(allow file-read* file-write-data (subpath "/dev/fd"))
(allow file-ioctl (literal "/dev/dtracehelper") (literal "/dev/tty"))
(allow mach-lookup
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.logger"))
(allow ipc-posix-shm-read-data (ipc-posix-name "apple.shm.notification_center"))
"#;

/// Where programs and their libraries are.
const RUNTIME: [&str; 9] = [
    "/usr",
    "/bin",
    "/sbin",
    "/System",
    "/Library/Apple",
    "/Library/Developer/CommandLineTools",
    "/Library/Frameworks",
    "/opt/homebrew",
    "/private/var/db/dyld",
];

/// What resolving names and checking certificates needs.
const NETWORK: &str = r#"(allow network*)
(allow system-socket)
(allow file-read*
  (literal "/private/etc/hosts")
  (literal "/private/etc/resolv.conf")
  (literal "/private/var/run/resolv.conf")
  (subpath "/private/etc/ssl"))
(allow mach-lookup
  (global-name "com.apple.dnssd.service")
  (global-name "com.apple.SystemConfiguration.configd")
  (global-name "com.apple.SecurityServer")
  (global-name "com.apple.trustd")
  (global-name "com.apple.trustd.agent"))
"#;

impl SeatbeltProfile<'_> {
    /// The text.
    ///
    /// # Errors
    /// [`Policy`](ErrorKind::Policy) for a path that the language cannot hold.
    pub fn render(&self) -> Result<String> {
        let mut text = BASE.to_owned();
        if self.subprocesses {
            text.push_str("(allow process-fork)\n");
        }
        match self.root_filesystem {
            RootFilesystem::Isolated => {
                for path in RUNTIME {
                    rule(&mut text, "allow file-read*", path)?;
                }
            }
            RootFilesystem::ReadOnly => text.push_str("(allow file-read*)\n"),
            RootFilesystem::ReadWrite => text.push_str("(allow file-read* file-write*)\n"),
        }
        if self.network {
            text.push_str(NETWORK);
        }
        let scratch = self.scratch.to_str().ok_or_else(unspeakable)?;
        rule(&mut text, "allow file-read* file-write*", scratch)?;
        let mut grants: Vec<&Grant> = self.grants.iter().collect();
        grants.sort_by_key(|grant| grant.path.as_os_str().len());
        for grant in grants {
            let path = grant.path.to_str().ok_or_else(unspeakable)?;
            match grant.access {
                Access::ReadWrite => rule(&mut text, "allow file-read* file-write*", path)?,
                Access::ReadOnly => {
                    rule(&mut text, "allow file-read*", path)?;
                    rule(&mut text, "deny file-write*", path)?;
                }
            }
        }
        self.protect_directories(&mut text)?;
        Ok(text)
    }

    /// Keeps granted directories where they are: whoever may write around one could put another in its place.
    fn protect_directories(&self, text: &mut String) -> Result<()> {
        for grant in self.grants {
            let others = |path: &Path| {
                let mut grants = self.grants.iter();
                grants.any(|other| path != other.path && path.starts_with(&other.path))
            };
            // Also the directories between it and the one around it, which could be moved away with it.
            let above = grant
                .path
                .ancestors()
                .skip(1)
                .take_while(|path| others(path));
            for path in [grant.path.as_path()].into_iter().chain(above) {
                let path = quoted(path.to_str().ok_or_else(unspeakable)?)?;
                let _ = writeln!(text, "(deny file-write-unlink (literal {path}))");
            }
        }
        Ok(())
    }
}

fn rule(text: &mut String, what: &str, path: &str) -> Result<()> {
    let _ = writeln!(text, "({what} (subpath {}))", quoted(path)?);
    Ok(())
}

/// A string of the language.
fn quoted(path: &str) -> Result<String> {
    if path.contains(char::is_control) {
        return Err(unspeakable());
    }
    let escaped = path.replace('\\', "\\\\").replace('"', "\\\"");
    Ok(format!("\"{escaped}\""))
}

fn unspeakable() -> Error {
    Error::new(
        ErrorKind::Policy,
        "a granted path contains control characters or is no UTF-8; Seatbelt cannot name it",
    )
}
