import { isIP } from 'node:net'
import type { CarrierConfig } from '../../../config/types.ts'
import type { AudioCodec, FarEnd, SrtpKeys, Symmetric } from '../../../media/types.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { mirrored, type RemoteAudio, type RemoteCodec } from '../sdp/sdp-description.ts'
import { judgeAddress } from './address-verdict.ts'
import { type CodecRules, eventsBeside, hasNoise, packetTime, plainCodecs } from './codec-rules.ts'

/** Rules for a peer's audio, besides its descriptions. */
export interface AudioRules extends CodecRules {
  /** Rule for learning the peer's real address from received audio. */
  readonly symmetric: Symmetric
  /** Whether digits are detected in the audio itself. */
  readonly inbandDigits: boolean
}

/** Rules for unknown peers: audio is accepted only from the address in the description. */
export const strictRules: AudioRules = { ...plainCodecs, symmetric: 'strict', inbandDigits: false }

/** Known facts of a peer. */
export interface FarParty {
  readonly carrier?:
    | Pick<CarrierConfig, 'symmetric' | 'inbandDigits' | 'codecs' | 'ptime' | 'comfortNoise'>
    | undefined
  readonly endpoint?: { readonly codecs?: readonly AudioCodec[] } | undefined
  /** Called domain application. Its codecs replace the codecs of the caller's carrier or endpoint. */
  readonly app?: { readonly codecs?: readonly AudioCodec[] }
}

/** Returns the rules of a carrier, of an endpoint, or of an unknown peer. */
export const audioRules = ({ carrier, endpoint, app }: FarParty): AudioRules => {
  const codecs = app?.codecs ?? carrier?.codecs ?? endpoint?.codecs ?? plainCodecs.codecs
  if (carrier) {
    const { symmetric, inbandDigits, ptime: ptimeMs, comfortNoise } = carrier
    return { symmetric, inbandDigits, codecs, ptimeMs, comfortNoise }
  }
  // Phones behind NAT announce addresses that are unreachable from outside, and send audio from their
  // signalling address.
  return { ...strictRules, codecs, ...(endpoint && { symmetric: 'same-ip' }) }
}

/** Facts of a peer besides its description. */
export interface FarEndContext {
  readonly chosen: RemoteCodec
  readonly srtp: SrtpKeys | undefined
  /** Source address of its signalling. */
  readonly source: string | undefined
  readonly rules: AudioRules
  /** Far end of the previous description. */
  readonly before: FarEnd | undefined
}

/**
 * Returns the far end of a description; undefined while there is no address to send to. Throws `bad_sdp` for
 * an address that audio must not be sent to.
 */
export const farEndOf = (audio: RemoteAudio, facts: FarEndContext): FarEnd | undefined => {
  const { chosen, srtp, source, rules, before } = facts
  // Without an address (hold by 0.0.0.0) the previous one is kept, but no audio is sent to it.
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

/** Returns the formats that go with the codec: telephone-event, comfort noise, and preferences of Opus. */
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
 * Returns the RTCP address if it differs from the audio's and is acceptable for audio. Otherwise returns
 * undefined: some equipment sends a wrong RTCP address, which must not fail the call.
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
