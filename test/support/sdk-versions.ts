/** A published version of the browser SDK from npm, with its differences. */
export interface SdkVersion {
  readonly version: string
  /** Its folder in `node_modules`. */
  readonly folder: string
  /** Name of the subscriber who uses this version, as in the address. */
  readonly person: string
  /** Name of the subscriber's friend with the same version. */
  readonly friend: string
  /** Whether it is an early version of this protocol, with fewer methods of members. */
  readonly isOld: boolean
  /** Whether its constructor opens the WebSocket; else `connect`, `online` or `dial` do. */
  readonly connectsAtOnce: boolean
  /** Whether every call asks for the other party's video. */
  readonly alwaysWantsVideo: boolean
  /** Whether it has `call.updateMedia` and its relatives, which add video to a call and remove it. */
  readonly updatesMedia: boolean
  /** Whether `address.getAddress` takes a name, too. */
  readonly findsByName: boolean
  readonly holds: boolean
  readonly ends: boolean
  readonly reattaches: boolean
  /** Whether `client.on` receives every event of the server. */
  readonly hearsEvents: boolean
  /** Whether `updateToken()` resolves and rejects. */
  readonly tellsOfToken: boolean
  /** Whether the SDK repeats failed requests, up to ten times. */
  readonly retries: boolean
  /** Whether this version gives up a call without a description after 20 s. */
  readonly givesUp: boolean
  /** Methods for conversations that it has. */
  readonly chat: 'all' | 'without joining' | 'none'
}

/** The versions that the gateway is tested with. */
export const sdkVersions: readonly SdkVersion[] = [
  {
    version: '3.27.0',
    folder: 'signalwire-js-3-27',
    person: 'ann327',
    friend: 'ben327',
    isOld: true,
    connectsAtOnce: false,
    alwaysWantsVideo: true,
    updatesMedia: false,
    findsByName: false,
    holds: false,
    ends: false,
    reattaches: false,
    hearsEvents: false,
    tellsOfToken: false,
    retries: false,
    givesUp: false,
    chat: 'without joining',
  },
  {
    version: '3.29.0',
    folder: 'signalwire-js-3-29',
    person: 'ann329',
    friend: 'ben329',
    isOld: false,
    connectsAtOnce: true,
    alwaysWantsVideo: false,
    updatesMedia: true,
    findsByName: true,
    holds: true,
    ends: false,
    reattaches: true,
    hearsEvents: true,
    tellsOfToken: true,
    retries: true,
    givesUp: false,
    chat: 'all',
  },
  {
    version: '3.30.0',
    folder: '@signalwire/js',
    person: 'ann330',
    friend: 'ben330',
    isOld: false,
    connectsAtOnce: true,
    alwaysWantsVideo: false,
    updatesMedia: true,
    findsByName: true,
    holds: true,
    ends: true,
    reattaches: true,
    hearsEvents: true,
    tellsOfToken: true,
    retries: true,
    givesUp: true,
    chat: 'none',
  },
]
