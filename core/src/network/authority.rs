//! Certificate authorities that live as long as one gateway.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, GeneralSubtree, IsCa, KeyPair, KeyUsagePurpose, NameConstraints,
};
use time::{Duration, OffsetDateTime};

use crate::error::{Error, ErrorKind, Result};

/// Longest time that a gateway's certificates are good for. A run is far shorter, and the keys do not outlive it.
const VALIDITY: Duration = Duration::days(7);
/// Clocks in containers may be behind.
const SKEW: Duration = Duration::hours(1);

/// An authority for a few hosts. Its key never leaves this process, and nobody may use it for another host.
pub(super) struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key, both as PEM.
pub(super) struct Leaf {
    pub(super) certificate: String,
    pub(super) key: String,
}

impl Authority {
    /// An authority for `hosts`, of which there is at least one.
    pub(super) fn new(hosts: &[&str]) -> Result<Self> {
        let mut params = CertificateParams::default();
        params.distinguished_name = name("LittleGhost run authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let own = hosts
            .iter()
            .map(|host| GeneralSubtree::DnsName((*host).to_owned()));
        params.name_constraints = Some(NameConstraints {
            permitted_subtrees: own.collect(),
            excluded_subtrees: Vec::new(),
        });
        valid(&mut params);
        let key = KeyPair::generate().map_err(problem)?;
        CertifiedIssuer::self_signed(params, key)
            .map(Self)
            .map_err(problem)
    }

    /// The authority's certificate as PEM, for those who should trust it.
    pub(super) fn certificate(&self) -> String {
        self.0.pem()
    }

    /// A certificate for a server named `host`.
    pub(super) fn issue(&self, host: &str) -> Result<Leaf> {
        let mut params = CertificateParams::new([host.to_owned()]).map_err(problem)?;
        // A name longer than 64 bytes does not fit in there; clients look at the alternative name.
        params.distinguished_name = name("LittleGhost gateway");
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        valid(&mut params);
        let key = KeyPair::generate().map_err(problem)?;
        let certificate = params.signed_by(&key, &self.0).map_err(problem)?;
        Ok(Leaf {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        })
    }
}

fn valid(params: &mut CertificateParams) {
    let now = OffsetDateTime::now_utc();
    params.not_before = now - SKEW;
    params.not_after = now + VALIDITY;
}

fn name(common: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common);
    name
}

fn problem(problem: rcgen::Error) -> Error {
    Error::new(
        ErrorKind::Dependency,
        format!("cannot make certificates for the network gateway: {problem}"),
    )
}

#[cfg(test)]
mod tests {
    use rustls::RootCertStore;
    use rustls::client::WebPkiServerVerifier;
    use rustls::client::danger::ServerCertVerifier;
    use rustls::crypto::ring::default_provider;
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
    use std::sync::Arc;

    use super::*;

    fn verdict(authority: &Authority, leaf: &Leaf, host: &'static str) -> bool {
        let mut roots = RootCertStore::empty();
        let pem = authority.certificate();
        roots
            .add(CertificateDer::from_pem_slice(pem.as_bytes()).unwrap())
            .unwrap();
        let provider = Arc::new(default_provider());
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .unwrap();
        let certificate = CertificateDer::from_pem_slice(leaf.certificate.as_bytes()).unwrap();
        let host = ServerName::try_from(host).unwrap();
        verifier
            .verify_server_cert(&certificate, &[], &host, &[], UnixTime::now())
            .is_ok()
    }

    #[test]
    fn it_vouches_for_its_hosts_and_no_others() {
        let authority = Authority::new(&["api.example.com"]).unwrap();
        let leaf = authority.issue("api.example.com").unwrap();
        assert!(PrivateKeyDer::from_pem_slice(leaf.key.as_bytes()).is_ok());
        assert!(verdict(&authority, &leaf, "api.example.com"));
        assert!(!verdict(&authority, &leaf, "www.example.com"));
        let other = Authority::new(&["api.example.com"]).unwrap();
        assert!(!verdict(&other, &leaf, "api.example.com"));
        let beyond = authority.issue("bank.example.org").unwrap();
        assert!(!verdict(&authority, &beyond, "bank.example.org"));
    }
}
