import { pino } from 'pino'
import { expect, it } from 'vitest'
import { ringCountries } from '../../handlers/common/sounds.ts'
import { SoundBusy } from '../../media/sound/errors.ts'
import { countryOf, ringtoneCountries } from '../../media/sound/ringtones.ts'
import { FakeClock } from '../core/clock.ts'
import { codeOf } from '../core/errors/catalogue.ts'
import { Metrics } from '../core/metrics.ts'
import { soundsOptions } from './sound-options.ts'

const sounds = { maxSize: 2, maxDurationMs: 60_000, timeoutMs: 1000, memory: 3, httpCache: 0 }
const engine = { url: 'http://tts.example/', timeoutMs: 8000, ssml: false }

it('turns the configuration into what the sounds are made with, and counts what they do', async () => {
  const metrics = new Metrics()
  const speech = {
    voice: 'slt',
    voices: { a: { engine: 'cloud' } },
    engines: [
      { ...engine, name: 'cloud', kind: 'openai', model: 'm', key: 'k' },
      { ...engine, name: 'own', kind: 'template', body: '{{text}}', voice: 'v' },
    ],
    folder: '/tmp/speech',
    folderSize: 1,
  } as const
  const lines: string[] = []
  const log = pino({ base: null }, { write: (line: string) => lines.push(line) })
  const options = soundsOptions({ sounds, speech }, new FakeClock(), log, metrics)
  expect(options).toMatchObject({
    voice: 'slt',
    voices: speech.voices,
    engines: [
      { kind: 'openai', name: 'cloud', model: 'm', format: 'wav', key: 'k' },
      { kind: 'template', name: 'own', method: 'POST', headers: {}, body: '{{text}}', voice: 'v' },
    ],
    folder: { path: '/tmp/speech', maxBytes: 1_048_576 },
    cacheBytes: 3_145_728,
    maxAudioBytes: 2_097_152,
    maxAudioSeconds: 60,
  })
  options.observer?.onPrepared?.('speech', 'memory')
  options.observer?.onSpeech?.('cloud', 'failed')
  options.folder?.onFault?.(new Error('full'))
  const text = await metrics.text()
  expect(text).toContain('trunkline_sounds_total{kind="speech",by="memory"} 1')
  expect(text).toContain('trunkline_speech_total{engine="cloud",result="failed"} 1')
  expect(lines.join()).toContain('speech folder not usable')
})

it('leaves out a folder of speech that cannot exist, and says why', () => {
  const lines: string[] = []
  const log = pino({ base: null }, { write: (line: string) => lines.push(line) })
  const speech = { voice: 'slt', voices: {}, engines: [], folder: '/proc/speech', folderSize: 1 }
  const options = soundsOptions({ sounds, speech }, new FakeClock(), log, new Metrics())
  expect(options.folder).toBeUndefined()
  expect(lines.join()).toContain('/proc is a system folder')
})

it('has a ringing tone for every country that documents may name', () => {
  expect(ringCountries.toSorted()).toEqual([...ringtoneCountries, 'uk'].toSorted())
  for (const country of ringCountries) expect(countryOf(country)).toBe(country === 'uk' ? 'gb' : country)
})

it('has a code for what is refused because too much is waiting', () => {
  expect(codeOf(new SoundBusy('Audio: too much is waiting'))).toBe('sound_busy')
})
