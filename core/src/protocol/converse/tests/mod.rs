mod request;
mod stream;
