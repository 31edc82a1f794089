/** What is bounded of WebSockets before anybody knows who connects, and of each connection. */
export interface WebSocketLimits {
  /** At once, over everything; default 10,000. */
  readonly connections: number
  /** At once, not signed in; default 2,000. */
  readonly waiting: number
  /** The same of one network address; default 500. */
  readonly waitingPerAddress: number
  /** Default 10 s. */
  readonly signInTimeoutMs: number
  /** All that a connection may send before it has signed in; default 64 KiB. */
  readonly bytesBeforeSignIn: number
  /** Longest frame; default 256 KiB. */
  readonly frame: number
  /** Bytes that may wait to be sent; default 1 MiB. */
  readonly buffered: number
  /** Of one browser; default 100. */
  readonly requestsPerSecond: number
  /** Of one application; default 2,000. */
  readonly requestsPerSecondOfApplication: number
  /** Events that a page has not acknowledged; default 1,000. */
  readonly unacknowledged: number
  /** Longest wait for the acknowledgement of an event; default 60 s. */
  readonly acknowledgeTimeoutMs: number
}

/** What somebody may have; connections and calls at once, and new ones within a minute. */
export interface BrowserShare {
  readonly connections: number
  readonly connectionsPerMinute: number
  /** Rung and dialled. */
  readonly calls: number
  readonly dialsPerMinute: number
}

/** What browsers may have, by whom they act for and where they are. */
export interface BrowserLimits {
  /** Default 200 connections, 5,000 within a minute, 100 calls, 300 dialled within a minute. */
  readonly perSubscriber: BrowserShare
  /** As of a subscriber. */
  readonly perToken: BrowserShare
  /** Default 20 connections, 300 within a minute, 10 calls, 60 dialled within a minute. */
  readonly perGuestToken: BrowserShare
  /** Default 1,000 connections, 20,000 within a minute, 1,000 calls, 3,000 dialled within a minute. */
  readonly perAddress: BrowserShare
}
