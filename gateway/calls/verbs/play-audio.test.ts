import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { dominant } from '../../../media/codecs/tone.ts'
import { createSounds } from '../../../media/sound/sounds.ts'
import { floatSine, mp3File, oggOpusFile, wavFile } from '../../../media/sound/testing/audio-files.ts'
import type { AudioCodec } from '../../../media/types.ts'
import { AudioFiles } from '../../callbacks/audio-files.ts'
import { CustomerHttp } from '../../callbacks/customer-http.ts'
import { OperatorHttp } from '../../callbacks/operator-http.ts'
import { Signer } from '../../callbacks/signatures.ts'
import { FakeClock } from '../../core/clock.ts'
import { Player } from '../audio/player.ts'
import { FakePort } from '../testing/fake-legs.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** Server of files by path, which records the methods, paths and bodies of requests. */
const serve = async (files: Record<string, Uint8Array>) => {
  const asked: string[] = []
  const server: Server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    asked.push(`${request.method} ${request.url} ${body}`.trim())
    const file = files[request.url ?? '']
    response.writeHead(file ? 200 : 404, { 'cache-control': 'max-age=60', etag: '"1"' }).end(file)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.push(() => {
    server.closeAllConnections()
    server.close()
    return once(server, 'close')
  })
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const setUp = (voice?: string) => {
  const clock = new FakeClock()
  const http = new CustomerHttp({
    timeoutMs: 5000,
    allowedNetworks: ['127.0.0.1/32'],
    userAgent: '',
    cacheBytes: 1_000_000,
    clock,
    signer: () => new Signer([]),
  })
  const operator = new OperatorHttp(clock, '')
  const sounds = createSounds({
    voice: voice ? 'house' : 'slt',
    voices: voice ? { house: { engine: 'cloud', voice: 'nova' } } : {},
    engines: voice
      ? [
          {
            kind: 'openai',
            name: 'cloud',
            url: voice,
            model: 'm',
            format: 'mp3',
            timeoutMs: 5000,
            ssml: false,
          },
        ]
      : [],
    send: operator.send,
  })
  ends.push(
    () => http.close(),
    () => operator.close(),
    () => sounds.close(),
  )
  return new Player(sounds, new AudioFiles({ http, maxBytes: 1_000_000, timeoutMs: 5000, clock }))
}

/** The first prompt that the port receives. */
const heard = async (player: Player, sound: Parameters<Player['start']>[1][number], codec: AudioCodec) => {
  const port = Object.assign(new FakePort('call'), { codec })
  const given = Promise.withResolvers<{ rate: number; tone: number; seconds: number }>()
  port.play = ({ prompt: { samples, sampleRate } }) => {
    given.resolve({
      rate: sampleRate,
      tone: dominant(samples, sampleRate),
      seconds: samples.length / sampleRate,
    })
    return { done: Promise.resolve('finished'), stop() {}, pause() {}, resume() {}, setVolume() {} }
  }
  const { done } = player.start(port, [sound])
  await Promise.race([done, given.promise])
  await done
  return given.promise
}

describe('audio from a server', () => {
  it('plays in each format, at the rate of the call, and is fetched once', async () => {
    const tone = floatSine(1000, 1, 48_000)
    const files = {
      '/a.wav': wavFile(tone, 48_000),
      '/a.mp3': await mp3File([tone], 48_000),
      '/a.opus': await oggOpusFile(tone),
    }
    const { asked, url } = await serve(files)
    const player = setUp()
    for (const path of Object.keys(files)) {
      const sound = { kind: 'audio', url: url + path } as const
      expect(await heard(player, sound, 'PCMU')).toMatchObject({ rate: 8000, tone: 1000 })
      expect(await heard(player, sound, 'G722')).toMatchObject({ rate: 16_000, tone: 1000 })
    }
    expect(asked).toEqual(['GET /a.wav', 'GET /a.mp3', 'GET /a.opus'])
  })

  it('fails with its fault', async () => {
    const { url } = await serve({ '/page': Buffer.from('<html>no</html>') })
    const player = setUp()
    await expect(heard(player, { kind: 'audio', url: `${url}/page` }, 'PCMU')).rejects.toThrow(
      'found a text or a web page',
    )
    await expect(heard(player, { kind: 'audio', url: `${url}/none` }, 'PCMU')).rejects.toThrow('404')
  })
})

describe('a voice behind HTTP', () => {
  it('plays, with one request for each text', async () => {
    const { asked, url } = await serve({ '/speech': await mp3File([floatSine(500, 1, 16_000)], 16_000) })
    const player = setUp(`${url}/speech`)
    const sound = { kind: 'speech', text: 'Hello', voice: 'polly.Joanna' } as const
    for (let i = 0; i < 2; i++) {
      expect(await heard(player, sound, 'PCMA')).toMatchObject({ rate: 8000, tone: 500 })
    }
    expect(asked).toHaveLength(1)
    expect(JSON.parse(asked[0]!.replace('POST /speech ', ''))).toMatchObject({
      input: 'Hello',
      voice: 'nova',
    })
  })

  it('is replaced by the built-in voice if its server fails', { timeout: 60_000 }, async () => {
    const player = setUp('http://127.0.0.1:1/speech')
    const { rate, seconds } = await heard(player, { kind: 'speech', text: 'Hello there' }, 'G722')
    expect(rate).toBe(16_000)
    expect(seconds).toBeGreaterThan(0.4)
  })
})
