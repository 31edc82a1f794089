import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sine } from '../../../media/codecs/tone.ts'
import { wav } from '../wav.ts'

const rate = 48_000

/** Writes a WAV file with a tone of `frequency` Hz, which a browser repeats as its microphone. */
export const toneFile = async (frequency: number): Promise<{ path: string; remove(): Promise<void> }> => {
  const samples = sine(frequency, 4000, rate, 12_000)
  const folder = await mkdtemp(join(tmpdir(), 'microphone-'))
  const path = join(folder, 'tone.wav')
  await writeFile(path, wav(samples, rate))
  return { path, remove: () => rm(folder, { recursive: true }) }
}
