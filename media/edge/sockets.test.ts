import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { checkRealtime } from './realtime.ts'
import type { PortSocket } from './sockets.ts'
import { addonFile, openSockets, type SocketKind, socketKind } from './sockets-open.ts'

const native = socketKind()
// Without a C compiler the addon is missing; its tests are then skipped, with the reason in their names.
const kinds: SocketKind[] = native.kind === 'native' ? ['node', 'native'] : ['node']

/** Collects received packets, and can wait for more. */
const listener = () => {
  const heard: { text: string; address: string; port: number }[] = []
  let wake = () => {}
  return {
    heard,
    on: (packet: Buffer, address: string, port: number) => {
      heard.push({ text: packet.toString('latin1'), address, port })
      wake()
    },
    until: async (count: number) => {
      while (heard.length < count) await new Promise<void>((resolve) => (wake = resolve))
    },
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
const say = (from: PortSocket, text: string, to: PortSocket, address = '127.0.0.1') =>
  from.send(Buffer.from(text, 'latin1'), 0, text.length, to.port, address)

const openFiles = () => readdirSync('/proc/self/fd').length

describe.each(kinds)('%s sockets', (kind) => {
  const { bind, counters } = openSockets(kind)

  it.each([
    ['IPv4', '127.0.0.1'],
    ['IPv6', '::1'],
  ])("send and receive over %s, with addresses in Node's notation", async (_, address) => {
    const a = listener()
    const b = listener()
    const alice = await bind(address, 0, a.on)
    const bob = await bind(address, 0, b.on)
    say(alice, 'hello', bob, address)
    await b.until(1)
    expect(b.heard).toEqual([{ text: 'hello', address, port: alice.port }])
    say(bob, 'hello yourself', alice, b.heard[0]!.address)
    await a.until(1)
    expect(a.heard).toEqual([{ text: 'hello yourself', address, port: bob.port }])
    await Promise.all([alice.close(), bob.close()])
  })

  it('distinguish sources, and send to each', async () => {
    const a = listener()
    const b = listener()
    const c = listener()
    const alice = await bind('0.0.0.0', 0, (packet, address, port) => {
      a.on(packet, address, port)
      alice.send(packet, 1, packet.length - 1, port, address)
    })
    const bob = await bind('127.0.0.2', 0, b.on)
    const carol = await bind('127.0.0.3', 0, c.on)
    for (let round = 1; round <= 3; round++) {
      say(bob, `bob ${round}`, alice)
      say(carol, `carol ${round}`, alice)
      await Promise.all([b.until(round), c.until(round)])
    }
    expect(a.heard.filter(({ address }) => address === '127.0.0.2')).toHaveLength(3)
    expect(
      a.heard.filter(({ address, port }) => address === '127.0.0.3' && port === carol.port),
    ).toHaveLength(3)
    expect(b.heard.map(({ text }) => text)).toEqual(['ob 1', 'ob 2', 'ob 3'])
    expect(c.heard.map(({ text }) => text)).toEqual(['arol 1', 'arol 2', 'arol 3'])
    await Promise.all([alice.close(), bob.close(), carol.close()])
  })

  it('carry hundreds of packets of one turn, in order and complete', async () => {
    const b = listener()
    const alice = await bind('127.0.0.1', 0, () => {})
    const bob = await bind('127.0.0.1', 0, b.on)
    const texts = Array.from({ length: 200 }, (_, i) => `${i} `.repeat(1 + (i % 40)))
    for (const text of texts) say(alice, text, bob)
    // More than the addon's ring holds, to another socket.
    for (let i = 0; i < 400; i++) say(alice, 'x', alice)
    await b.until(200)
    expect(b.heard.map(({ text }) => text)).toEqual(texts)
    await Promise.all([alice.close(), bob.close()])
  })

  it('reject a port in use, a foreign address and an invalid one', async () => {
    const other = createSocket('udp4').bind(0, '127.0.0.1')
    await once(other, 'listening')
    await expect(bind('127.0.0.1', other.address().port, () => {})).rejects.toMatchObject({
      code: 'EADDRINUSE',
    })
    await expect(bind('192.0.2.1', 0, () => {})).rejects.toMatchObject({ code: 'EADDRNOTAVAIL' })
    other.close()
  })

  it('release everything when closed, receive nothing more, and flush earlier packets', async () => {
    const b = listener()
    const bob = await bind('127.0.0.1', 0, b.on)
    await turn()
    const before = openFiles()
    const a = listener()
    const alice = await bind('127.0.0.1', 0, a.on)
    say(bob, 'unheard', alice)
    say(alice, 'goodbye', bob)
    await Promise.all([alice.close(), alice.close()])
    say(alice, 'after the end', bob)
    say(bob, 'to a closed port', alice)
    say(bob, 'last', bob)
    await b.until(2)
    expect(b.heard.map(({ text }) => text)).toEqual(['goodbye', 'last'])
    expect(a.heard).toEqual([])
    expect(openFiles()).toBe(before)
    const next = await bind('127.0.0.1', alice.port, () => {})
    expect(next.port).toBe(alice.port)
    await Promise.all([bob.close(), next.close()])
  })

  it('may be closed from a callback, with packets for them pending', async () => {
    const all: PortSocket[] = []
    let first = true
    let heard = 0
    const on = () => {
      heard++
      if (!first) return
      first = false
      for (const socket of all.slice(0, 4)) void socket.close()
    }
    for (let i = 0; i < 5; i++) all.push(await bind('127.0.0.1', 0, on))
    const sender = createSocket('udp4')
    const { port } = all[4]!
    for (const socket of all) sender.send('x', socket.port, '127.0.0.1')
    for (let i = 0; i < 3; i++) sender.send('x', port, '127.0.0.1')
    while (heard < 4) await turn()
    expect(heard).toBeGreaterThanOrEqual(4)
    await all[4]!.close()
    sender.close()
  })

  it.runIf(kind === 'native')('count unusable packets, and continue', async () => {
    const b = listener()
    const bob = await bind('127.0.0.1', 0, b.on)
    const before = counters!()
    const sender = createSocket('udp4')
    sender.send(Buffer.alloc(2049), bob.port, '127.0.0.1')
    bob.send(Buffer.from('x'), 0, 1, 0, '127.0.0.1')
    bob.send(Buffer.from('x'), 0, 1, 70_000, '127.0.0.1')
    bob.send(Buffer.from('x'), 0, 1, 9, 'carrier.example')
    bob.send(Buffer.from('x'), 0, 1, 9, '::1')
    // Unreachable from a loopback socket.
    bob.send(Buffer.from('x'), 0, 1, 9, '192.0.2.1')
    await turn()
    sender.send(Buffer.alloc(2048), bob.port, '127.0.0.1')
    await b.until(1)
    expect(b.heard[0]?.text).toHaveLength(2048)
    const after = counters!()
    expect(after.tooLong - before.tooLong).toBe(1)
    expect(after.misaddressed - before.misaddressed).toBe(2)
    expect(after.sendErrors - before.sendErrors).toBe(1)
    await bob.close()
    sender.close()
  })
})

describe.runIf(native.kind === 'native')(`the addon (${native.reason ?? 'built'})`, () => {
  it('ends with its thread, sixty times, with open sockets and arriving packets', {
    timeout: 180_000,
  }, async () => {
    const code = `
      const { parentPort } = require('node:worker_threads')
      const addon = require(${JSON.stringify(addonFile)})
      addon.start(() => {})
      const handles = Array.from({ length: 20 }, () => addon.bind('127.0.0.1', 0))
      addon.close(handles[0])
      parentPort.on('message', () => {})
      parentPort.postMessage(handles.slice(1).map((handle) => addon.portOf(handle)))`
    const sender = createSocket('udp4')
    const run = async () => {
      const worker = new Worker(code, { eval: true })
      const [ports] = (await once(worker, 'message')) as [number[]]
      for (const port of ports) sender.send('x', port, '127.0.0.1')
      await worker.terminate()
    }
    await run()
    const before = openFiles()
    for (let i = 0; i < 15; i++) await Promise.all([run(), run(), run(), run()])
    expect(openFiles()).toBeLessThanOrEqual(before)
    const sockets = readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).includes('eventpoll')
      } catch {
        return false
      }
    })
    // The loops of the test's own threads, and this thread's hub.
    expect(sockets.length).toBeLessThan(20)
    sender.close()
  })

  it('lets an exception of the packet callback end the thread', async () => {
    const code = `
      const { parentPort } = require('node:worker_threads')
      const addon = require(${JSON.stringify(addonFile)})
      addon.start(() => { throw new Error('a defect') })
      parentPort.postMessage(addon.portOf(addon.bind('127.0.0.1', 0)))`
    const worker = new Worker(code, { eval: true })
    const failed = once(worker, 'error')
    const [port] = (await once(worker, 'message')) as [number]
    const sender = createSocket('udp4')
    sender.send('x', port, '127.0.0.1')
    expect(((await failed)[0] as Error).message).toBe('a defect')
    sender.close()
  })

  it('gives real-time priority to the calling thread, and not to the threads that it starts', async () => {
    const code = `
      const { parentPort, Worker } = require('node:worker_threads')
      const { enterRealtime } = require(${JSON.stringify(addonFile)})
      // Fields 40 and 41 of proc(5): real-time priority and policy.
      const scheduling = () => {
        const [, fields] = require('node:fs').readFileSync('/proc/thread-self/stat', 'utf8').split(') ')
        return fields.split(' ').slice(37, 39)
      }
      const before = scheduling()
      let failure
      try { enterRealtime() } catch (error) { failure = error.code }
      const after = scheduling()
      const report = "require('node:worker_threads').parentPort.postMessage((" + scheduling + ')())'
      const child = new Worker(report, { eval: true })
      child.on('message', (started) => parentPort.postMessage({ before, after, started, failure }))`
    const worker = new Worker(code, { eval: true })
    const [found] = (await once(worker, 'message')) as [object]
    const normal = ['0', '0']
    if (checkRealtime(0).isRealtime)
      expect(found).toEqual({ before: normal, after: ['1', '2'], started: normal, failure: undefined })
    else expect(found).toEqual({ before: normal, after: normal, started: normal, failure: 'EPERM' })
    const [, own = ''] = readFileSync('/proc/thread-self/stat', 'utf8').split(') ')
    expect(own.split(' ').slice(37, 39)).toEqual(normal)
  })

  it('validates every number from JavaScript', async () => {
    const code = `
      const { parentPort } = require('node:worker_threads')
      const addon = require(${JSON.stringify(addonFile)})
      const thrown = (run) => { try { return run() } catch (error) { return error.code } }
      const early = thrown(() => addon.flush(1))
      const memory = addon.start(() => {})
      const again = thrown(() => addon.start(() => {}))
      const words = new Int32Array(memory)
      const handle = addon.bind('127.0.0.1', 0)
      const stale = addon.bind('127.0.0.1', 0)
      addon.close(stale)
      const at = addon.sendsAt / 4
      const good = [handle, 0, 10, addon.portOf(handle), 0, 0x0100007f]
      const bad = [
        [stale], [-1], [2 ** 31 - 1], [handle + 1],
        [handle, -1], [handle, memory.byteLength - 9], [handle, 2 ** 31 - 1, 2 ** 31 - 1],
        [handle, 0, -1], [handle, 0, 10, 0], [handle, 0, 10, 65536], [handle, 0, 10, -5],
      ]
      bad.forEach((values, i) => {
        words.set([...values, ...good.slice(values.length)], at + i * addon.entryWords)
      })
      addon.flush(bad.length)
      addon.flush(-1); addon.flush(2 ** 32 - 1); addon.flush('x'); addon.flush()
      addon.close(stale); addon.close(-1); addon.close('x'); addon.close()
      const misaddressed = new Float64Array(memory, addon.countersAt, 8)[5]
      parentPort.postMessage({
        early, again, misaddressed, entries: bad.length, closed: addon.portOf(stale),
        binds: [['x', 0], ['1.2.3', 0], ['127.0.0.1', 65536], ['127.0.0.1', -1], ['x'.repeat(5000), 0], [7, 0], ['fe80::1%nonesuch', 0], []]
          .map((values) => thrown(() => addon.bind(...values))),
        families: ['1.2.3.4', '::1', '::ffff:1.2.3.4', '', 'x', '1.2.3.4\\0', undefined, 'fe80::1%lo'].map((text) => addon.pack(text)),
        text: (addon.pack('2001:db8:0:0:0:0:0:1'), addon.unpack(true)),
      })
      process.exit()`
    const worker = new Worker(code, { eval: true })
    const [found] = await Promise.race([once(worker, 'message'), once(worker, 'error')])
    const { entries, misaddressed, ...rest } = found
    // With a count beyond the ring, the whole ring is sent; its unused entries name the first socket and port
    // 0.
    expect(misaddressed).toBeGreaterThanOrEqual(entries)
    expect(rest).toEqual({
      early: 'ERR_NOT_STARTED',
      again: 'ERR_STARTED',
      closed: 0,
      binds: Array(8).fill('EINVAL'),
      families: [4, 6, 6, 0, 0, 0, 0, 6],
      text: '2001:db8::1',
    })
    await worker.terminate()
  })
})
