import { describe, expect, it } from 'vitest'
import { SoundBusy, TextRejected } from './errors.ts'
import { type HttpRequest, HttpVoice, type HttpVoiceOptions, type SendRequest } from './http-voice.ts'
import type { JobOptions } from './job-thread.ts'

const samples = new Int16Array(new SharedArrayBuffer(8))
const openAi: HttpVoiceOptions = {
  kind: 'openai',
  name: 'cloud',
  url: 'https://tts.example/v1/audio/speech',
  model: 'tts-1',
  format: 'wav',
  voice: 'alloy',
  key: 'k3y',
  timeoutMs: 8000,
  ssml: false,
}
const template: HttpVoiceOptions = {
  kind: 'template',
  name: 'own',
  url: 'http://10.0.0.5/say?v={{voice}}',
  method: 'POST',
  headers: { 'X-Language': '{{language}}' },
  body: '{"t":"{{text}}"}',
  timeoutMs: 5000,
  ssml: false,
}

const setUp = (options: HttpVoiceOptions, answer: Partial<Awaited<ReturnType<SendRequest>>> = {}) => {
  const sent: HttpRequest[] = []
  const limits: unknown[] = []
  const decoded: unknown[] = []
  const voice = new HttpVoice(
    options,
    async (request, limit) => {
      sent.push(request)
      limits.push(limit)
      return { status: 200, bytes: Uint8Array.of(1, 2), ...answer }
    },
    async (bytes, rate) => {
      decoded.push([...bytes], rate)
      return samples
    },
  )
  return { voice, sent, limits, decoded }
}
const hostile = 'He said "hi"\\ & <b>\n\u00e4 {{voice}}'

describe('an OpenAI-compatible voice', () => {
  it('sends the requested parameters, and decodes the answer at the rate of the port', async () => {
    const { voice, sent, limits, decoded } = setUp(openAi)
    expect(await voice.speak({ text: hostile, rate: 16_000 })).toBe(samples)
    expect(sent[0]).toMatchObject({
      method: 'POST',
      url: 'https://tts.example/v1/audio/speech',
      headers: { authorization: 'Bearer k3y', 'content-type': 'application/json' },
    })
    expect(JSON.parse(sent[0]!.body!)).toEqual({
      model: 'tts-1',
      input: hostile,
      voice: 'alloy',
      response_format: 'wav',
    })
    expect(limits).toMatchObject([{ timeoutMs: 8000 }])
    expect(decoded).toEqual([[1, 2], 16_000])
    await voice.speak({ text: 'a', voice: 'nova', rate: 8000 })
    expect(JSON.parse(sent[1]!.body!)).toMatchObject({ voice: 'nova' })
  })

  it('fails with its name, and without its key', async () => {
    const { voice } = setUp(openAi, { status: 401 })
    const error = await voice.speak({ text: 'a', rate: 8000 }).catch((e: Error) => e)
    expect(String(error)).toContain('The voice cloud failed: its server answered 401')
    expect(String(error)).not.toContain('k3y')
    expect(error).not.toBeInstanceOf(TextRejected)
  })

  it("decodes the answer in the customer's turn, and rejects if too many jobs wait", async () => {
    const waiters: JobOptions[] = []
    const voice = new HttpVoice(
      openAi,
      async () => ({ status: 200, bytes: Uint8Array.of(1) }),
      async (_bytes, _rate, waiter) => {
        waiters.push(waiter)
        throw new SoundBusy('Audio: too much is waiting')
      },
    )
    const { signal } = new AbortController()
    const said = voice.speak({ text: 'a', rate: 8000, customer: 'p1' }, signal)
    await expect(said).rejects.toMatchObject({ code: 'sound_busy', message: 'Audio: too much is waiting' })
    expect(waiters).toEqual([{ customer: 'p1', signal }])
  })

  it('distinguishes a rejected text from a failure', async () => {
    const refused = setUp(openAi, { status: 400 }).voice.speak({ text: 'a', rate: 8000 })
    await expect(refused).rejects.toThrow(TextRejected)
    await expect(refused).rejects.toThrow('The voice cloud failed: its server answered 400')
  })
})

describe('a voice by template', () => {
  const speak = async (options: Partial<HttpVoiceOptions>, request: object = {}) => {
    const { voice, sent } = setUp({ ...template, ...options } as HttpVoiceOptions)
    await voice.speak({
      text: hostile,
      voice: 'a b&c\r\nX-Evil: 1',
      language: 'de-AT',
      rate: 8000,
      ...request,
    })
    return sent[0]!
  }

  it('escapes for JSON, the URL and headers', async () => {
    const request = await speak({})
    expect(JSON.parse(request.body!)).toEqual({ t: hostile })
    expect(request.url).toBe('http://10.0.0.5/say?v=a%20b%26c%0D%0AX-Evil%3A%201')
    const headers = { 'X-Language': '{{language}}', 'X-Voice': '{{voice}}' }
    expect((await speak({ headers })).headers).toEqual({
      'x-language': 'de-AT',
      'x-voice': 'a b&c X-Evil: 1',
      'content-type': 'application/json',
    })
  })

  it('uses its own language by default', async () => {
    const own = { url: 'http://10.0.0.5/{{language}}/say', language: 'en' }
    expect((await speak(own, { language: undefined })).url).toBe('http://10.0.0.5/en/say')
    expect((await speak(own)).url).toBe('http://10.0.0.5/de-AT/say')
  })

  it('escapes for XML and forms', async () => {
    const xml = await speak({
      headers: { 'Content-Type': 'application/ssml+xml' },
      body: '<speak>{{ text }}</speak>',
    })
    expect(xml.body).toBe('<speak>He said &#34;hi&#34;\\ &#38; &#60;b&#62;\n\u00e4 {{voice}}</speak>')
    const form = await speak({
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 't={{text}}',
    })
    expect(new URLSearchParams(form.body).get('t')).toBe(hostile)
  })

  it('embeds SSML in XML, and as text in JSON', async () => {
    const ssml = '<speak>a<break/> &#38; b</speak>'
    const of = async (text: string, type: string, body: string) =>
      (await speak({ ssml: true, headers: { 'Content-Type': type }, body }, { text })).body
    expect(await of(ssml, 'application/ssml+xml', '{{text}}')).toBe(ssml)
    expect(await of('a & b', 'application/ssml+xml', '{{text}}')).toBe('<speak>a &#38; b</speak>')
    expect(JSON.parse((await of(ssml, 'application/json', '{"t":"{{text}}"}')) ?? '')).toEqual({ t: ssml })
  })

  it('has no body with GET', async () => {
    const request = await speak({ method: 'GET', url: 'http://tts.example/?q={{text}}', body: 'x' })
    expect([request.method, request.body]).toEqual(['GET', undefined])
    expect(new URL(request.url).searchParams.get('q')).toBe(hostile)
  })
})
