/** A published version of the browser SDK, as npm delivers it, and what a server has to know of it. */
export interface SdkVersion {
  readonly version: string
  /** Its folder in `node_modules`. */
  readonly folder: string
  /** Who signs in with it: the name in the address. */
  readonly person: string
  /** Whom this person calls with the same version. */
  readonly friend: string
  /** Of the first that went to this protocol: fewer methods of members. */
  readonly isOld: boolean
  /** Opens its WebSocket when it is made; else on `connect`, `online` or `dial`. */
  readonly connectsAtOnce: boolean
  /** Every call asks for the other party's video. */
  readonly alwaysWantsVideo: boolean
  /** `call.updateMedia` and its kin: video is added to a call, and taken away. */
  readonly updatesMedia: boolean
  /** `address.getAddress` takes a name too. */
  readonly findsByName: boolean
  readonly holds: boolean
  readonly ends: boolean
  readonly reattaches: boolean
  /** `client.on`: every event of the server. */
  readonly hearsEvents: boolean
  /** `updateToken()` resolves and rejects. */
  readonly tellsOfToken: boolean
  /** What fails is asked up to ten times more. */
  readonly retries: boolean
  /** Gives a call up that has no description after 20 s. */
  readonly givesUp: boolean
  /** What of conversations it can do. */
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
