import { describe, expect, it } from 'vitest'
import type { AgentLanguage, AgentText } from '../../../../handlers/verbs.ts'
import { FakeClock } from '../../../core/clock.ts'
import { silentModel } from '../../models/silent-model.ts'
import { PipelineEngine } from './pipeline.ts'
import { EventLog, FakeHearing, FakeVoice } from './testing/fake-parts.ts'
import { settle } from './testing/open-pipeline.ts'

/** Text that a test writes. */
class Draft implements AgentText {
  readonly #listeners = new Set<(piece: string | undefined) => void>()

  get readers(): number {
    return this.#listeners.size
  }

  write(piece: string | undefined): void {
    for (const listener of this.#listeners) listener(piece)
  }

  read(listener: (piece: string | undefined) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

const swedish: AgentLanguage = { name: 'English', code: 'en-US', heard: 'sv-SE' }

const opened = async (voice = new FakeVoice(), languages: readonly AgentLanguage[] = [swedish]) => {
  const recogniser = new FakeHearing()
  const engine = new PipelineEngine({
    name: 'test',
    recognisers: [recogniser],
    models: [silentModel],
    voices: [{ voice, names: ['acme.*'] }],
    clock: new FakeClock(),
    log: { warn: () => {} } as never,
    rate: 8000,
  })
  const log = new EventLog()
  const request = {
    projectId: 'p',
    prompt: '',
    functions: [],
    history: [],
    languages,
    hints: [],
    pronounce: [],
    settings: {},
    isSemantic: true,
    endOfSpeechMs: 700,
  }
  const link = engine.open(request, log)
  await settle()
  log.take()
  return { link, log, voice, recogniser }
}

describe('a pipeline whose handler answers', () => {
  it('answers a turn with nothing, which is no failure', async () => {
    const { link, log } = await opened()
    link.prepare('Hello')
    link.commit('Hello')
    await settle()
    expect(log.take()).toEqual(['A begins', 'A completed'])
    link.commit('Hello again')
    link.interrupt(undefined, false)
    await settle()
    expect(log.take()).not.toContain('B failed')
  })

  it('speaks a text clause by clause while it is being written', async () => {
    const { link, log, voice } = await opened()
    const draft = new Draft()
    link.speak(draft, undefined)
    draft.write('One. Two')
    await settle()
    expect(log.take()).toEqual(['A begins', 'A1 text One.', 'A1 audio 800', 'A1 ends'])
    draft.write(' and three')
    draft.write(undefined)
    await settle()
    expect(voice.texts).toEqual(['One.', 'Two and three'])
    expect(log.take()).toEqual(['A2 text Two and three', 'A2 audio 800', 'A2 ends', 'A completed'])
  })

  it('leaves a text that was interrupted', async () => {
    const { link, log } = await opened()
    const draft = new Draft()
    link.speak(draft, undefined)
    draft.write('One. ')
    await settle()
    expect(draft.readers).toBe(1)
    link.interrupt({ answer: log.idOf('A'), item: '', ms: 50, text: 'One.' }, false)
    expect(draft.readers).toBe(0)
    draft.write('Two. ')
    await settle()
    expect(log.take().at(-1)).toBe('A cancelled')
  })

  it('speaks one text in another language, with its voice', async () => {
    const { link, voice, recogniser } = await opened()
    expect(recogniser.last.request.language).toBe('sv-SE')
    link.speak('Bonjour.', { name: 'French', code: 'fr-FR', voice: 'acme.lea', voiceSettings: { speed: 1 } })
    link.say('Hello.')
    await settle()
    expect(voice.spoken.map(({ options }) => [options.language, options.voice, options.settings])).toEqual([
      ['fr-FR', 'lea', { speed: 1 }],
      ['en-US', undefined, undefined],
    ])
    link.change({ language: { name: 'Greek', code: 'el', heard: 'en' } })
    expect(recogniser.last.request.language).toBe('en')
  })

  it('forgets the other languages of the one before', async () => {
    const { link, recogniser } = await opened(new FakeVoice(), [
      { name: 'English', code: 'en-US' },
      { name: 'Spanish', code: 'es-MX' },
    ])
    expect(recogniser.last.request).toMatchObject({ language: 'en-US', others: ['es-MX'] })
    link.change({ hints: ['tea'] })
    expect(recogniser.last.request).toMatchObject({ hints: ['tea'], others: ['es-MX'] })
    for (let i = 0; i < 25; i++) link.hear(new Int16Array(160))
    link.change({ language: { name: 'Greek', code: 'el', heard: 'el-GR' } })
    expect(recogniser.last.request.language).toBe('el-GR')
    expect(recogniser.last.request).not.toHaveProperty('others')
  })

  it('keeps the language that the handler has chosen, whatever the caller speaks', async () => {
    const { link, voice, recogniser } = await opened()
    link.change({ language: { name: 'Greek', code: 'el', heard: 'en-US' } })
    expect(recogniser.last.request).not.toHaveProperty('others')
    recogniser.last.listener.onTranscript({ text: 'Hello', isFinal: true, language: 'en' })
    link.speak('Hello.', undefined)
    await settle()
    expect(voice.spoken.map(({ options }) => options.language)).toEqual(['el'])
  })

  it('plays a sound with its repetitions, in pieces', async () => {
    const { link, log } = await opened()
    const samples = Int16Array.from({ length: 56_000 }, (_, i) => i % 1000)
    link.speak({ loops: 2, load: async () => ({ samples, sampleRate: 8000 }) }, undefined)
    await settle()
    // 14 s: one piece of 10 s, and the rest.
    expect(log.take()).toEqual([
      'A begins',
      'A1 audio 80000',
      'A1 ends',
      'A2 audio 32000',
      'A2 ends',
      'A completed',
    ])
  })

  it('requests no more of an endless sound than the caller is about to hear', async () => {
    const { link, log } = await opened()
    const load = async () => ({ samples: new Int16Array(8000), sampleRate: 8000 }) as const
    link.speak({ loops: 0, load }, undefined)
    await settle()
    const audio = log.take().filter((line) => line.includes('audio'))
    expect(audio.length).toBeLessThanOrEqual(4)
    link.close()
  })

  it('warns of a sound that cannot be loaded, and goes on', async () => {
    const { link, log } = await opened()
    link.speak({ loops: 1, load: () => Promise.reject(new Error('404')) }, undefined)
    link.speak('Next.', undefined)
    await settle()
    expect(log.take()).toEqual([
      'A begins',
      'warning sound_failed',
      'A completed',
      'B begins',
      'B1 text Next.',
      'B1 audio 800',
      'B1 ends',
      'B completed',
    ])
  })

  it('plays nothing of an empty sound', async () => {
    const { link, log } = await opened()
    const load = async () => ({ samples: new Int16Array(0), sampleRate: 8000 }) as const
    link.speak({ loops: 0, load }, undefined)
    await settle()
    expect(log.take()).toEqual(['A begins', 'A completed'])
  })
})
