import { expect, it } from 'vitest'
import { goertzel, sine } from '../../../media/codecs/tone.ts'
import { createEdge } from '../../../media/edge/edge.ts'
import { freePortRange } from '../../../media/testing/free-ports.ts'
import type { MediaPort } from '../../../media/types.ts'
import { openPortPair } from './loopback-ports.ts'

const options = {
  bind: '127.0.0.1',
  ports: await freePortRange(98),
  threads: 2,
  quarantineMs: 0,
  startTimeoutMs: 30_000,
  mediaTimeoutMs: 60_000,
}

/** Half a second of 440 Hz, in memory that threads share. */
const tone = () => {
  const made = sine(440, 500, 8000, 8000)
  const samples = new Int16Array(new SharedArrayBuffer(made.byteLength))
  samples.set(made)
  return { sampleRate: 8000, samples } as const
}

/** Resolves when the far end of a port has received a tone for 200 ms. */
const hears = (port: MediaPort): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const tap = port.tap({ tracks: 'in', sampleRate: 8000 })
  let last: Int16Array[] = []
  tap.onFrame(({ samples }) => {
    last = [...last, samples].slice(-10)
    const all = Int16Array.from(last.flatMap((frame) => [...frame]))
    if (last.length === 10 && goertzel(all, 440) > 0.7) resolve()
  })
  return promise
}

it.each(['PCMU', 'PCMA', 'G722', 'L16', 'opus'] as const)(
  'carries %s both ways between two threads',
  async (codec) => {
    const edge = await createEdge(options)
    const [first, second] = await openPortPair(edge, ['one call', 'another call'], codec)
    expect([first.codec, second.codec, first.group, second.group]).toEqual([
      codec,
      codec,
      'one call',
      'another call',
    ])
    const heard = [hears(second), hears(first)]
    first.play({ prompt: tone(), loop: 0 })
    second.play({ prompt: tone(), loop: 0 })
    await Promise.all(heard)
    await Promise.all([first.close(), second.close()])
    expect(edge.portCount).toBe(0)
    await edge.close()
  },
)

it('leaves no port open if the second one cannot be opened', async () => {
  const edge = await createEdge(options)
  const open = edge.open.bind(edge)
  let opened = 0
  const failing: Parameters<typeof openPortPair>[0] = {
    open: (wanted) => (opened++ === 0 ? open(wanted) : Promise.reject(new Error('none is free'))),
  }
  await expect(openPortPair(failing, ['one call', 'another call'], 'PCMU')).rejects.toThrow('none is free')
  expect(edge.portCount).toBe(0)
  await edge.close()
})
