import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { HttpRequest, SendRequest } from './http-voice.ts'
import { createSounds } from './sounds.ts'

import { jobsOf, setUp, turn } from './testing/sounds-setup.ts'

describe('voices behind HTTP', () => {
  const cloud = {
    kind: 'openai' as const,
    format: 'wav' as const,
    ssml: false,
    name: 'cloud',
    url: 'https://tts.example/',
    model: 'm',
    timeoutMs: 1000,
  }
  const voices = { 'polly.*': { engine: 'cloud', voice: 'nova' } }
  const source = { kind: 'speech', text: 'Hello', voice: 'Polly.Joanna' } as const

  it('speak for their names', async () => {
    const sent: HttpRequest[] = []
    const send: SendRequest = async (request) => {
      sent.push(request)
      return { status: 200, bytes: Uint8Array.of(5) }
    }
    const { sounds, audio, threads, seen } = setUp({ engines: [cloud], voices, send })
    const said = sounds.prepare(source, 16_000)
    await turn()
    audio.answer(3)
    expect((await said).samples.length).toBe(3)
    await sounds.prepare(source, 16_000)
    expect([sent.length, threads.jobs.length]).toEqual([1, 0])
    expect(JSON.parse(sent[0]!.body!)).toMatchObject({ input: 'Hello', voice: 'nova' })
    expect(audio.jobs[0]).toMatchObject({ rate: 16_000 })
    expect(seen).toEqual(['cloud ok', 'speech making', 'speech memory'])
  })

  it('are replaced by the built-in one on failure, once, and retried the next time', async () => {
    let asked = 0
    const send: SendRequest = async () => {
      asked++
      throw new Error('it took longer than 1000 ms')
    }
    const { sounds, threads, seen } = setUp({ engines: [cloud], voices, send })
    const warnings: string[] = []
    const said = () => sounds.prepare(source, 8000, { warn: (warning) => warnings.push(warning) })
    const first = said()
    await turn()
    threads.answer(3)
    const { samples } = await first
    expect(samples.length).toBe(3)
    expect((await said()).samples).toBe(samples)
    const warning = 'The voice cloud failed: it took longer than 1000 ms; the built-in voice speaks instead'
    expect([asked, threads.jobs.length, warnings]).toEqual([2, 1, [warning, warning]])
    expect(seen).toEqual(['cloud failed', 'built-in ok', 'speech making', 'cloud failed', 'speech memory'])
  })

  it('fail when the built-in one fails too', async () => {
    const send: SendRequest = async () => ({ status: 500, bytes: Uint8Array.of() })
    const { sounds, threads, seen } = setUp({ engines: [cloud], voices, send })
    const said = sounds.prepare(source)
    await turn()
    threads.reply({ error: 'Speech: no memory' })
    await expect(said).rejects.toThrow('Speech: no memory')
    expect(seen).toEqual(['cloud failed', 'built-in failed', 'speech failure'])
  })

  it('store their speech in a folder', async () => {
    const path = mkdtempSync(join(tmpdir(), 'sounds-'))
    try {
      let asked = 0
      const send: SendRequest = async () => {
        asked++
        return { status: 200, bytes: Uint8Array.of(5) }
      }
      let now = 4_000_000_000_000
      const folder = { path, maxBytes: 10_000, now: () => now }
      const options = { engines: [cloud], voices, send, folder }
      const first = setUp(options)
      const said = first.sounds.prepare(source)
      await jobsOf(first.audio, 1)
      first.audio.answer(3)
      await said
      await first.sounds.close()
      const again = setUp(options)
      expect([...(await again.sounds.prepare(source)).samples]).toEqual([1, 1, 1])
      expect([asked, again.seen]).toEqual([1, ['speech folder']])
      // Served from memory, it still counts as used.
      now += 3_600_000
      await again.sounds.prepare(source)
      await again.sounds.close()
      expect(again.seen[1]).toBe('speech memory')
      expect(statSync(join(path, readdirSync(path)[0]!)).mtimeMs).toBe(now)
    } finally {
      rmSync(path, { recursive: true })
    }
  })

  it('and unknown languages give warnings', async () => {
    const sent: HttpRequest[] = []
    const send: SendRequest = async (request) => {
      sent.push(request)
      return { status: 200, bytes: Uint8Array.of(5) }
    }
    const own = {
      kind: 'template' as const,
      method: 'GET' as const,
      headers: {},
      ssml: false,
      timeoutMs: 1000,
      name: 'own',
      url: 'http://10.0.0.5/{{language}}/{{voice}}',
      language: 'en',
      voice: 'v',
    }
    const house = { house: { engine: 'own' } }
    const { sounds, audio } = setUp({ engines: [own], voices: house, voice: 'house', send })
    const warnings: string[] = []
    const foreign = { kind: 'speech', text: 'Hello', voice: '../nobody', language: '..' } as const
    const said = sounds.prepare(foreign, 8000, { warn: (warning) => warnings.push(warning) })
    await turn()
    audio.answer(3)
    await said
    expect(sent[0]?.url).toBe('http://10.0.0.5/en/v')
    expect(warnings).toEqual([
      'The voice "../nobody" is not known; the default voice speaks',
      'The language ".." is not one of BCP 47; it is left out',
    ])
    // Omitted parameters do not make it another sound.
    await sounds.prepare({ kind: 'speech', text: 'Hello' })
    expect(sent.length).toBe(1)
  })

  it('require an existing engine', () => {
    expect(() => createSounds({ voice: 'slt', voices })).toThrow(
      'names the engine cloud, which is not configured',
    )
    const send = async () => ({ status: 200, bytes: Uint8Array.of() })
    const named = [{ ...cloud, name: 'built-in' }]
    expect(() => createSounds({ voice: 'slt', engines: named, send })).toThrow('built-in is no name')
    const joe = { joe: { engine: 'built-in', voice: 'joe' } }
    expect(() => createSounds({ voice: 'slt', voices: joe })).toThrow('names the built-in voice joe')
  })
})
