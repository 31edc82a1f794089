import { isIP } from 'node:net'
import type { CarrierConfig } from '../../../config/sip-types.ts'
import type { FarEnd, SrtpKeys, Symmetric } from '../../../media/types.ts'
import { TrunklineError } from '../../errors.ts'
import { type CodecFormat, mirrored, type RemoteAudio } from '../sdp/description.ts'
import { judgeAddress } from './guard.ts'

/** How a far side's audio is taken, besides what its descriptions say. */
export interface AudioRules {
  /** From whom its source is learnt. */
  readonly symmetric: Symmetric
  /** Digits are listened for in the audio itself. */
  readonly inbandDigits: boolean
}

/** Those for anybody: audio comes from the address that the description names. */
export const strictRules: AudioRules = { symmetric: 'strict', inbandDigits: false }

/** Those for SIP endpoints: phones behind NAT announce addresses that nobody else can reach, and send from where they signal. */
const endpointRules: AudioRules = { symmetric: 'same-ip', inbandDigits: false }

/** A carrier's own rules, or those for endpoints or for anybody. */
export const audioRules = (
  carrier: Pick<CarrierConfig, 'symmetric' | 'inbandDigits'> | undefined,
  isEndpoint: boolean,
): AudioRules => {
  if (!carrier) return isEndpoint ? endpointRules : strictRules
  return { symmetric: carrier.symmetric, inbandDigits: carrier.inbandDigits }
}

/** What is known of a far side besides its description. */
export interface FarFacts {
  readonly chosen: CodecFormat
  readonly srtp: SrtpKeys | undefined
  /** Address that its signalling comes from. */
  readonly source: string | undefined
  readonly rules: AudioRules
  /** What was known before. */
  readonly before: FarEnd | undefined
}

/**
 * The far end that a description means; undefined where there is no place yet to send to. Throws `bad_sdp` for an address that audio must
 * not go to.
 */
export const farEndOf = (audio: RemoteAudio, facts: FarFacts): FarEnd | undefined => {
  const { chosen, srtp, source, rules, before } = facts
  // Hold by 0.0.0.0: the place where the far side was stays known, nothing is sent to it.
  const address = audio.address ?? before?.address
  if (address === undefined) return undefined
  const verdict = judgeAddress(address, source)
  if (verdict === 'refuse')
    throw new TrunklineError('bad_sdp', 'SDP: an address that audio may be sent to expected.', {
      ...{ address, source },
    })
  const { rtcpPort, rtcpMux, telephoneEvent, ptime, ssrcs } = audio
  const rtcpAddress = rtcpAddressOf(audio, address, source)
  const { symmetric, inbandDigits } = rules
  return {
    address,
    port: audio.address === undefined ? (before?.port ?? audio.port) : audio.port,
    ...(srtp && { srtp }),
    ...(rtcpPort !== undefined && { rtcpPort }),
    ...(rtcpAddress !== undefined && { rtcpAddress }),
    ...(rtcpMux && { rtcpMux }),
    codec: chosen.codec,
    payloadType: chosen.payloadType,
    ...(telephoneEvent !== undefined && { telephoneEvent }),
    direction: mirrored(audio.direction),
    ...(ptime !== undefined && { ptime }),
    ...(ssrcs && { ssrcs }),
    symmetric,
    ...(symmetric !== 'strict' && source !== undefined && { signalledFrom: source }),
    ...(verdict === 'learn' && { learnFrom: [source ?? ''] }),
    ...(inbandDigits && { inbandDigits }),
  }
}

/** Where RTCP goes, if elsewhere: an address that audio might go to as well. Some write nonsense there, which is no reason to have no call. */
const rtcpAddressOf = (
  { rtcpAddress }: RemoteAudio,
  address: string,
  source: string | undefined,
): string | undefined => {
  if (rtcpAddress === undefined || rtcpAddress === address) return undefined
  const isFit = isIP(rtcpAddress) === isIP(address) && judgeAddress(rtcpAddress, source) === 'take'
  return isFit ? rtcpAddress : undefined
}
