import { isIP } from 'node:net'
import type { CarrierConfig } from '../../../config/sip-types.ts'
import type { AudioCodec, FarEnd, SrtpKeys, Symmetric } from '../../../media/types.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { mirrored, type RemoteAudio, type RemoteCodec } from '../sdp/sdp-description.ts'
import { judgeAddress } from './address-verdict.ts'
import { type CodecRules, eventsBeside, hasNoise, packetTime, plainCodecs } from './codec-rules.ts'

/** How a far side's audio is taken, besides what its descriptions say. */
export interface AudioRules extends CodecRules {
  /** From whom its source is learnt. */
  readonly symmetric: Symmetric
  /** Digits are listened for in the audio itself. */
  readonly inbandDigits: boolean
}

/** Those for anybody: audio comes from the address that the description names. */
export const strictRules: AudioRules = { ...plainCodecs, symmetric: 'strict', inbandDigits: false }

/** Who a far side is, as far as that is known. */
export interface FarParty {
  readonly carrier?:
    | Pick<CarrierConfig, 'symmetric' | 'inbandDigits' | 'codecs' | 'ptime' | 'comfortNoise'>
    | undefined
  readonly endpoint?: { readonly codecs?: readonly AudioCodec[] } | undefined
  /**
   * The domain application that it calls: what that says of codecs goes before what is said of the caller.
   */
  readonly app?: { readonly codecs?: readonly AudioCodec[] }
}

/** A carrier's own rules, or those for endpoints or for anybody. */
export const audioRules = ({ carrier, endpoint, app }: FarParty): AudioRules => {
  const codecs = app?.codecs ?? carrier?.codecs ?? endpoint?.codecs ?? plainCodecs.codecs
  if (carrier) {
    const { symmetric, inbandDigits, ptime: ptimeMs, comfortNoise } = carrier
    return { symmetric, inbandDigits, codecs, ptimeMs, comfortNoise }
  }
  // Phones behind NAT announce addresses that nobody else can reach, and send from where they signal.
  return { ...strictRules, codecs, ...(endpoint && { symmetric: 'same-ip' }) }
}

/** What is known of a far side besides its description. */
export interface FarEndContext {
  readonly chosen: RemoteCodec
  readonly srtp: SrtpKeys | undefined
  /** Address that its signalling comes from. */
  readonly source: string | undefined
  readonly rules: AudioRules
  /** What was known before. */
  readonly before: FarEnd | undefined
}

/**
 * The far end that a description means; undefined where there is no place yet to send to. Throws `bad_sdp`
 * for an address that audio must not go to.
 */
export const farEndOf = (audio: RemoteAudio, facts: FarEndContext): FarEnd | undefined => {
  const { chosen, srtp, source, rules, before } = facts
  // Hold by 0.0.0.0: the place where the far side was stays known, nothing is sent to it.
  const address = audio.address ?? before?.address
  if (address === undefined) return undefined
  const verdict = judgeAddress(address, source)
  if (verdict === 'refuse')
    throw new TrunklineError('bad_sdp', 'SDP: an address that audio may be sent to expected.', {
      address,
      source,
    })
  const { rtcpPort, rtcpMux, ssrcs } = audio
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
    ...formatsBeside(chosen, audio),
    direction: mirrored(audio.direction),
    ptime: packetTime(audio, chosen, rules.ptimeMs),
    ...(ssrcs && { ssrcs }),
    symmetric,
    ...(symmetric !== 'strict' && source !== undefined && { signalledFrom: source }),
    ...(verdict === 'learn' && { learnFrom: [source ?? ''] }),
    ...(inbandDigits && { inbandDigits }),
  }
}

/** What goes beside the codec: events and comfort noise, and what Opus is to be like. */
const formatsBeside = (
  { codec, opus }: RemoteCodec,
  { telephoneEvents, comfortNoise }: RemoteAudio,
): Pick<FarEnd, 'telephoneEvent' | 'telephoneEventRate' | 'comfortNoise' | 'opus'> => {
  const events = eventsBeside(codec, telephoneEvents)
  return {
    ...(events && { telephoneEvent: events.payloadType }),
    ...(events && events.clockRate !== 8000 && { telephoneEventRate: events.clockRate }),
    ...(comfortNoise !== undefined && hasNoise(codec) && { comfortNoise }),
    ...(opus && { opus }),
  }
}

/**
 * Where RTCP goes, if elsewhere: an address that audio might go to as well. Some write nonsense there, which
 * is no reason to have no call.
 */
const rtcpAddressOf = (
  { rtcpAddress }: RemoteAudio,
  address: string,
  source: string | undefined,
): string | undefined => {
  if (rtcpAddress === undefined || rtcpAddress === address) return undefined
  const isFit = isIP(rtcpAddress) === isIP(address) && judgeAddress(rtcpAddress, source) === 'take'
  return isFit ? rtcpAddress : undefined
}
