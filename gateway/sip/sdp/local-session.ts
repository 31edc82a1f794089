import { isIPv6 } from 'node:net'
import { ownOpusParameters } from '../../../media/codecs/opus-parameters.ts'
import { comfortNoise as noise, rtpmapOf } from './codec-names.ts'
import { writeCrypto } from './crypto-lines.ts'
import type { CodecFormat, LocalAudio, Section } from './sdp-description.ts'

/**
 * Local side of one session: a constant id, and a version that rises with every change (RFC 3264 section 8).
 */
export class LocalSession {
  #id: string
  #version = 0
  #written = ''
  /** Address of the origin line, which never changes (RFC 8866 section 5.2). */
  #origin: string | undefined

  /** `id`: digits only, unique among the gateway's sessions. */
  constructor(id: string) {
    this.#id = id
  }

  /**
   * Writes an offer or an answer. `sections` are the m-lines of the session so far, `index` the position of
   * the audio among them; all others are rejected with port 0. Without `sections` the description has the
   * audio only.
   */
  write(audio: LocalAudio, sections: readonly Section[] = [], index = 0): string {
    const address = `${isIPv6(audio.address) ? 'IP6' : 'IP4'} ${audio.address}`
    this.#origin ??= address
    const media =
      sections.length === 0
        ? [audioLines(audio)]
        : sections.map((section, at) => (at === index ? audioLines(audio) : refusal(section)))
    const rest = ['s=-', `c=IN ${address}`, 't=0 0', ...media.flat()].join('\r\n')
    if (rest !== this.#written) this.#version++
    this.#written = rest
    return `v=0\r\no=- ${this.#id} ${this.#version} IN ${this.#origin}\r\n${rest}\r\n`
  }
}

const refusal = ({ media, protocol, formats }: Section): readonly string[] => [
  `m=${media} 0 ${protocol} ${formats}`,
]

const audioLines = (audio: LocalAudio): readonly string[] => {
  const { port, rtcpPort, rtcpMux, codecs, telephoneEvents, comfortNoise, ptime, direction, profile } = audio
  const formats = [
    ...codecs.map(({ payloadType }) => payloadType),
    ...(comfortNoise === undefined ? [] : [comfortNoise]),
    ...telephoneEvents.map(({ payloadType }) => payloadType),
  ]
  return [
    `m=audio ${port} ${profile} ${formats.join(' ')}`,
    ...codecs.flatMap(codecLines),
    ...(comfortNoise === undefined ? [] : [`a=rtpmap:${comfortNoise} ${noise.name}`]),
    ...telephoneEvents.flatMap(({ payloadType, clockRate }) => [
      `a=rtpmap:${payloadType} telephone-event/${clockRate}`,
      `a=fmtp:${payloadType} 0-15`,
    ]),
    ...audio.crypto.map((line) => `a=crypto:${writeCrypto(line)}`),
    ...(rtcpMux ? ['a=rtcp-mux'] : rtcpPort === port + 1 ? [] : [`a=rtcp:${rtcpPort}`]),
    `a=ptime:${ptime}`,
    `a=${direction}`,
  ]
}

const codecLines = ({ codec, payloadType }: CodecFormat): readonly string[] => [
  `a=rtpmap:${payloadType} ${rtpmapOf(codec)}`,
  ...(codec === 'opus' ? [`a=fmtp:${payloadType} ${ownOpusParameters}`] : []),
]
