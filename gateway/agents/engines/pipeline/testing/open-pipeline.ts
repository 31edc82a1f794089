/** Session of a pipeline for tests. */
import type { EngineRequest } from '../../../engine.ts'
import { ResetClock } from '../../../testing/reset-clock.ts'
import { PipelineEngine } from '../pipeline.ts'
import { EventLog, FakeHearing, FakeModel, FakeVoice } from './fake-parts.ts'

/** Opens a session with fake parts, and replacements for each. */
export const open = (given: Partial<EngineRequest> = {}, voice = new FakeVoice()) => {
  const clock = new ResetClock()
  const model = new FakeModel()
  const recogniser = new FakeHearing()
  const spare = {
    model: new FakeModel('spare'),
    voice: new FakeVoice('spare'),
    hearing: new FakeHearing('spare'),
  }
  const warnings: object[] = []
  const engine = new PipelineEngine({
    name: 'test',
    recognisers: [recogniser, spare.hearing],
    models: [model, spare.model],
    voices: [
      { voice, names: ['acme.*'] },
      { voice: spare.voice, names: ['spare'] },
    ],
    clock,
    log: { warn: (facts: object) => warnings.push(facts) } as never,
    rate: 8000,
  })
  const log = new EventLog()
  const request: EngineRequest = {
    projectId: 'p',
    prompt: 'Be kind.',
    functions: [],
    history: [],
    languages: [{ name: 'English', code: 'en-US' }],
    hints: [],
    pronounce: [],
    settings: {},
    isSemantic: true,
    endOfSpeechMs: 700,
    ...given,
  }
  const link = engine.open(request, log)
  return { clock, model, recogniser, spare, engine, link, log, voice, warnings }
}

/** Lets everything that waits for no timer happen. */
export const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Opens a session, after its first events. */
export const opened = async (...args: Parameters<typeof open>) => {
  const all = open(...args)
  await settle()
  all.log.take()
  return all
}

/** Call of a function as {@link FakeModel} makes it. */
export const call = (name: string) => ({ id: `id-${name}`, name, args: '{}' })

/** 20 ms of a loud tone at 8000 Hz. */
export const tone = () => Int16Array.from({ length: 160 }, (_, i) => 8000 * Math.sin(i / 3))
