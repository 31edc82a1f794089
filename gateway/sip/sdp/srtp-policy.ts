import type { CarrierConfig } from '../../../config/sip-types.ts'
import { srtpSuites } from '../../../config/srtp-suites.ts'
import type { SrtpSuite } from '../../../media/types.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { CryptoLine } from './crypto-lines.ts'
import type { Profile, RemoteAudio, RemoteDescription } from './sdp-description.ts'

/** Whether audio is encrypted (SDES, RFC 4568). */
export interface SrtpPolicy {
  readonly mode: 'off' | 'optional' | 'required'
  /** Keys may stand in the SDP: the signalling is TLS, or the carrier's entry permits it without. */
  readonly mayHaveKeys: boolean
  /** What is offered, in this order, and taken. */
  readonly suites: readonly SrtpSuite[]
}

/** No SRTP at all. */
export const withoutSrtp: SrtpPolicy = { mode: 'off', mayHaveKeys: false, suites: [] }

/**
 * A carrier's own policy; anybody else may encrypt, with every suite. `secure`: others cannot read the
 * signalling.
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
 * What somebody demands of the audio besides a carrier's policy: the domain that is called, an endpoint, a
 * gateway.
 */
export interface SecurityDemands {
  /** Default `optional`: as the policy says. */
  readonly encryption?: 'optional' | 'required' | 'forbidden'
  /** Suites; default those of the policy. */
  readonly ciphers?: readonly string[]
}

/**
 * A policy with what somebody else demands. Their word goes before the carrier's; it can name fewer suites,
 * not more.
 */
export const narrowed = (policy: SrtpPolicy, own: SecurityDemands | undefined): SrtpPolicy => {
  const { encryption = 'optional', ciphers } = own ?? {}
  const modes = { required: 'required', forbidden: 'off', optional: policy.mode } as const
  const suites = ciphers ? policy.suites.filter((suite) => ciphers.includes(suite)) : policy.suites
  return { ...policy, mode: modes[encryption], suites }
}

/** The m-line that is used, and the line of its keys where it is encrypted. */
export interface ChosenAudio {
  readonly audio: RemoteAudio
  readonly crypto?: CryptoLine
}

/**
 * The audio m-line of an offer that is taken: the first that the policy permits, and of two kinds the
 * encrypted one. The answer has the profile of that line, whatever we would have preferred. `secured`: the
 * session is encrypted already, and stays so. Throws `srtp_mismatch` where no line fits.
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
 * The profile of our offer, and whether it gives keys; inside a session both stay. Throws `srtp_mismatch`
 * where keys are required, and not permitted.
 */
export const offeredSecurity = ({ mode, mayHaveKeys }: SrtpPolicy, now?: Security): Security => {
  if (now) return now
  if (mode === 'required' && !mayHaveKeys)
    throw new TrunklineError('srtp_mismatch', 'SRTP is required, and the signalling is not encrypted.')
  if (mode === 'off' || !mayHaveKeys) return { profile: 'RTP/AVP', isEncrypted: false }
  // The far side may take the keys or leave them (RFC 8643), where it may be done without.
  return { profile: mode === 'required' ? 'RTP/SAVP' : 'RTP/AVP', isEncrypted: true }
}

/**
 * What an answer to our offer means: the line of its keys, or undefined for plain RTP. Throws `srtp_mismatch`
 * for an answer with another profile than the offer's, for keys that we did not offer, and for plain RTP
 * where it may not be.
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
