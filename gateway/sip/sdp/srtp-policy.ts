import { srtpSuites } from '../../../config/srtp-suites.ts'
import type { CarrierConfig } from '../../../config/types.ts'
import type { SrtpSuite } from '../../../media/types.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { CryptoLine } from './crypto-lines.ts'
import type { Profile, RemoteAudio, RemoteDescription } from './sdp-description.ts'

/** Whether audio is encrypted (SDES, RFC 4568). */
export interface SrtpPolicy {
  readonly mode: 'off' | 'optional' | 'required'
  /**
   * Whether keys may be in the SDP: the signalling uses TLS, or the carrier's configuration permits keys
   * without TLS.
   */
  readonly mayHaveKeys: boolean
  /** Suites that are offered and accepted, in order of preference. */
  readonly suites: readonly SrtpSuite[]
}

/** No SRTP at all. */
export const withoutSrtp: SrtpPolicy = { mode: 'off', mayHaveKeys: false, suites: [] }

/**
 * Returns the policy of a carrier. For other peers encryption is optional, with every suite. `secure`:
 * whether the signalling is encrypted.
 */
export const srtpPolicy = (
  carrier: Pick<CarrierConfig, 'srtp' | 'srtpSuites' | 'srtpWithoutTls'> | undefined,
  secure: boolean,
): SrtpPolicy => ({
  mode: carrier?.srtp ?? 'optional',
  mayHaveKeys: secure || carrier?.srtpWithoutTls === true,
  suites: carrier?.srtpSuites ?? srtpSuites,
})

/**
 * Demands of the called domain, an endpoint or a SIP gateway on the encryption, in addition to a carrier's
 * policy.
 */
export interface SecurityDemands {
  /** Default `optional`: the policy decides. */
  readonly encryption?: 'optional' | 'required' | 'forbidden'
  /** Suites; default: the suites of the policy. */
  readonly ciphers?: readonly string[]
}

/**
 * Returns a policy narrowed by further demands. The demands override the mode of the policy. They can remove
 * suites, but not add any.
 */
export const narrowed = (policy: SrtpPolicy, own: SecurityDemands | undefined): SrtpPolicy => {
  const { encryption = 'optional', ciphers } = own ?? {}
  const modes = { required: 'required', forbidden: 'off', optional: policy.mode } as const
  const suites = ciphers ? policy.suites.filter((suite) => ciphers.includes(suite)) : policy.suites
  return { ...policy, mode: modes[encryption], suites }
}

/** Chosen m-line, with its key line if it is encrypted. */
export interface ChosenAudio {
  readonly audio: RemoteAudio
  readonly crypto?: CryptoLine
}

/**
 * Chooses the audio m-line of an offer: the first permitted encrypted one, else the first permitted plain
 * one. The answer uses the profile of that line. `secured`: the session is encrypted already, and must stay
 * so. Throws `srtp_mismatch` if no line is permitted.
 */
export const chooseAudio = (
  { audios }: Pick<RemoteDescription, 'audios'>,
  policy: SrtpPolicy,
  secured = false,
): ChosenAudio => {
  const mayEncrypt = policy.mode !== 'off' && policy.mayHaveKeys
  const mustEncrypt = policy.mode === 'required' || secured
  for (const audio of mayEncrypt ? audios : []) {
    const crypto = audio.crypto.find(({ suite }) => policy.suites.includes(suite))
    if (crypto) return { audio, crypto }
  }
  const plain = mustEncrypt ? undefined : audios.find(({ profile }) => profile === 'RTP/AVP')
  if (plain) return { audio: plain }
  throw mismatch(policy, secured, audios)
}

/** The profile of a session, and whether it is encrypted. */
export interface Security {
  readonly profile: Profile
  readonly isEncrypted: boolean
}

/**
 * Returns the profile of a local offer, and whether it has keys. Within a session both stay the same. Throws
 * `srtp_mismatch` if keys are required but not permitted.
 */
export const offeredSecurity = ({ mode, mayHaveKeys }: SrtpPolicy, now?: Security): Security => {
  if (now) return now
  if (mode === 'required' && !mayHaveKeys)
    throw new TrunklineError('srtp_mismatch', 'SRTP is required, and the signalling is not encrypted.')
  if (mode === 'off' || !mayHaveKeys) return { profile: 'RTP/AVP', isEncrypted: false }
  // If keys are optional, the peer may ignore them (RFC 8643).
  return { profile: mode === 'required' ? 'RTP/SAVP' : 'RTP/AVP', isEncrypted: true }
}

/**
 * Returns the key line of an answer to a local offer, or undefined for plain RTP. Throws `srtp_mismatch` if
 * the profile differs from the offer, if the keys were not offered, and for plain RTP that is not permitted.
 * `secured`: plain RTP is not permitted, whatever the policy.
 */
export const acceptedSecurity = (
  audio: RemoteAudio,
  offered: { readonly profile: Profile; readonly crypto: readonly CryptoLine[] },
  policy: SrtpPolicy,
  secured: boolean,
): CryptoLine | undefined => {
  const refused = mismatch(policy, secured, [audio])
  if (audio.profile !== offered.profile) throw refused
  const line = audio.crypto.find((theirs) =>
    offered.crypto.some((ours) => ours.tag === theirs.tag && ours.suite === theirs.suite),
  )
  if (audio.crypto.length > 0 && offered.crypto.length > 0 && !line) throw refused
  if (!line && (offered.profile === 'RTP/SAVP' || policy.mode === 'required' || secured)) throw refused
  return line
}

const mismatch = (policy: SrtpPolicy, secured: boolean, audios: readonly RemoteAudio[]): TrunklineError => {
  const found = audios.map(({ profile, crypto }) =>
    crypto.length > 0 ? `${profile} with ${crypto.map(({ suite }) => suite).join(', ')}` : profile,
  )
  const { mode, mayHaveKeys } = policy
  return new TrunklineError('srtp_mismatch', `Found: ${found.join(', ')}; SRTP here: ${mode}.`, {
    found,
    srtp: mode,
    keysPermitted: mayHaveKeys,
    secured,
  })
}
