import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sine } from '../../media/codecs/tone.ts'

const rate = 48_000

/** Writes a WAV with a tone of `frequency` Hz, which a browser plays over and over as its microphone. */
export const toneFile = async (frequency: number): Promise<{ path: string; remove(): Promise<void> }> => {
  const samples = sine(frequency, 4000, rate, 12_000)
  const data = Buffer.from(samples.buffer)
  const header = Buffer.alloc(44)
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(36 + data.length, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(rate, 24)
  header.writeUInt32LE(rate * 2, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(data.length, 40)
  const folder = await mkdtemp(join(tmpdir(), 'microphone-'))
  const path = join(folder, 'tone.wav')
  await writeFile(path, Buffer.concat([header, data]))
  return { path, remove: () => rm(folder, { recursive: true }) }
}
