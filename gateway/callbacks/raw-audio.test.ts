import { expect, it } from 'vitest'
import { encode } from '../../media/codecs/g711.ts'
import { decodeAudio } from '../../media/sound/decode.ts'
import { floatSine, wavFile } from '../../media/sound/testing/audio-files.ts'
import { rawTypeOf, withHeader } from './raw-audio.ts'

const tone = Int16Array.from(floatSine(1000, 0.1, 8000), (v) => v * 32_767)

it.each([
  ['audio/basic', 'PCMU'],
  ['audio/PCMU', 'PCMU'],
  ['audio/x-mulaw; rate=8000', 'PCMU'],
  ['audio/ulaw', 'PCMU'],
  [' audio/x-ulaw', 'PCMU'],
  ['audio/pcma', 'PCMA'],
  ['audio/x-alaw', 'PCMA'],
] as const)('plays raw audio of the type %s', async (type, law) => {
  const samples = await decodeAudio(withHeader(encode(law, tone), type), 8000, 60)
  expect(samples.length).toBe(tone.length)
  for (const [at, value] of tone.entries()) expect(Math.abs(samples[at]! - value)).toBeLessThan(700)
})

it.each(['audio/wav', 'audio/basics', 'application/octet-stream', ''])('leaves %j as it is', (type) => {
  const bytes = encode('PCMU', tone)
  expect(withHeader(bytes, type)).toBe(bytes)
})

it('leaves what has a header as it is, and what is empty', () => {
  const files = [
    wavFile(new Float32Array(8), 8000),
    Buffer.from('FORM'),
    Buffer.from('.snd'),
    Buffer.alloc(0),
  ]
  for (const file of files) expect(withHeader(file, 'audio/basic')).toBe(file)
})

it('knows raw audio by the name of its file', () => {
  const names = ['a.ulaw', 'b/c.UL', 'd.mulaw', 'e.alaw', 'f.al', 'g.wav', 'ulaw', 'h.ulaw.mp3']
  const types = ['audio/ulaw', 'audio/ulaw', 'audio/ulaw', 'audio/alaw', 'audio/alaw', '', '', '']
  expect(names.map(rawTypeOf)).toEqual(types)
})
