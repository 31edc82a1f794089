/** Behaviour of a client library that the gateway must respect. */
export interface ClientQuirks {
  /**
   * Whether the library reports a call that fails after it has received a description. The published SDK does
   * not: once it has one, its `start()` waits for `call.joined` alone, and neither a decline nor a timeout
   * settles it.
   */
  readonly canFailOnceDescribed: boolean
  /** Longest wait of a dialled call for its description, in milliseconds; undefined: no limit. */
  readonly maxDescriptionWaitMs: number | undefined
}

/** Our own SDK plays the ringing tone of the gateway, and settles `start()` in every case. */
const ownSdk: ClientQuirks = { canFailOnceDescribed: true, maxDescriptionWaitMs: 2_000 }

/**
 * Version 3.30.0 gives a call up 20 s after `start()`. The rest of the 20 s is for the person who has to
 * allow the microphone, and for gathering candidates: both come before the call reaches the gateway.
 */
const publishedSdk: ClientQuirks = { canFailOnceDescribed: false, maxDescriptionWaitMs: 15_000 }

/** Versions 3.27 to 3.29 wait for a description as long as the gateway lets the call ring. */
const patientSdk: ClientQuirks = { canFailOnceDescribed: false, maxDescriptionWaitMs: undefined }

/** First minor version of the published SDK that gives a call up for want of a description. */
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
