/** Behaviour of a client library that the gateway must respect. */
export interface ClientQuirks {
  /**
   * Whether the library reports the failure of a call that has received an SDP. The published SDK does not:
   * its `start()` then waits for `call.joined` alone, and neither a decline nor a timeout settles it.
   */
  readonly canFailOnceDescribed: boolean
  /** Maximum wait of a dialed call for its SDP, in milliseconds; undefined for no limit. */
  readonly maxDescriptionWaitMs: number | undefined
  /**
   * Whether the library makes a new offer for a call on `verto.renew`. The published SDK makes one only after
   * it has reconnected.
   */
  readonly renewsMedia: boolean
}

/** The SDK of Trunkline plays the ringing tone of the gateway, and settles `start()` in every case. */
const ownSdk: ClientQuirks = {
  canFailOnceDescribed: true,
  maxDescriptionWaitMs: 2_000,
  renewsMedia: true,
}

/**
 * Version 3.30.0 cancels a call 20 s after `start()`. The difference to the limit here allows for the
 * microphone permission and candidate gathering, before the call reaches the gateway.
 */
const publishedSdk: ClientQuirks = {
  canFailOnceDescribed: false,
  maxDescriptionWaitMs: 15_000,
  renewsMedia: false,
}

/** Versions 3.27 to 3.29 wait for an SDP as long as the gateway lets the call ring. */
const patientSdk: ClientQuirks = {
  canFailOnceDescribed: false,
  maxDescriptionWaitMs: undefined,
  renewsMedia: false,
}

/** First minor version (3.x) of the published SDK that cancels a call without an SDP. */
const firstImpatient = 30

/**
 * Returns the quirks of a client by the `agent` of its `signalwire.connect`. Unknown clients count as the
 * newest published SDK.
 */
export const quirksOf = (agent: unknown): ClientQuirks => {
  if (typeof agent !== 'string') return publishedSdk
  if (agent.startsWith('@trunkline/client/')) return ownSdk
  const minor = /^@signalwire\/js\/browser\/3\.(\d{1,4})\./.exec(agent)?.[1]
  return minor !== undefined && Number(minor) < firstImpatient ? patientSdk : publishedSdk
}
