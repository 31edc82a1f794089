import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defaultMessageLimits } from '../message/limits.ts'
import { inviteText } from '../testing/messages.ts'
import { TestSink } from '../testing/sink.ts'
import { openGate } from './types.ts'
import { UdpTransport } from './udp.ts'

describe.each(['127.0.0.1', '::1'])('on %s', (address) => {
  let sink: TestSink
  let transport: UdpTransport
  let peer: Socket
  let refused: string[]

  beforeEach(async () => {
    sink = new TestSink()
    refused = []
    const gate = {
      ...openGate,
      admits: (_protocol: string, _address: string, bytes: Buffer) =>
        !refused.some((each) => bytes.includes(each)),
    }
    transport = new UdpTransport(address, sink, defaultMessageLimits, gate)
    await transport.open(address, 0)
    peer = createSocket(address === '::1' ? 'udp6' : 'udp4')
    peer.bind(0, address)
    await once(peer, 'listening')
  })
  afterEach(async () => {
    peer.close()
    await transport.close()
  })

  const say = (bytes: string | Buffer) => peer.send(bytes, transport.local.port, address)

  it('a message is delivered with its flow', async () => {
    say(inviteText)
    const flow = await sink.flow()
    expect(flow.remote).toEqual({ protocol: 'udp', address, port: peer.address().port })
    const heard = once(peer, 'message')
    flow.send(Buffer.from('answer'))
    expect(String((await heard)[0])).toBe('answer')
  })

  it('responses go to the port of the Via only for configured networks without rport', async () => {
    const port = peer.address().port
    const viaPort = { has: (source: string) => source === address }
    const other = new UdpTransport(address, sink, defaultMessageLimits, openGate, viaPort)
    await other.open(address, 0)
    const flowOf = async (to: UdpTransport, via: string) => {
      const index = sink.messages.length
      peer.send(inviteText.replace(/^Via: .*$/m, `Via: ${via}`), to.local.port, address)
      return (await sink.flow(index)).remote
    }
    const plain = 'SIP/2.0/UDP 203.0.113.9:5070;branch=z9hG4bKa'
    expect(await flowOf(other, plain)).toEqual({ protocol: 'udp', address, port: 5070 })
    expect(await flowOf(other, 'SIP/2.0/UDP gw.example;branch=z9hG4bKb')).toMatchObject({
      address,
      port: 5060,
    })
    expect(await flowOf(other, `${plain}c;rport`)).toMatchObject({ port })
    expect(await flowOf(transport, `${plain}d`)).toMatchObject({ port })
    await other.close()
  })

  it('keep-alives and rejected datagrams are ignored, a STUN request is answered', async () => {
    refused = ['scanner']
    for (const text of ['', '\r\n', '\r\n\r\n', `${inviteText}scanner`]) say(text)
    const heard = once(peer, 'message')
    say(Buffer.from('000100002112a442b7e7a701bc34d686fa87dfae', 'hex'))
    const [bytes] = (await heard) as [Buffer]
    expect(bytes.subarray(0, 2).toString('hex')).toBe('0101')
    expect(bytes.readUInt16BE(26) ^ 0x2112).toBe(peer.address().port)
    say(inviteText)
    await sink.flow()
    expect([sink.messages.length, sink.faults.length]).toEqual([1, 0])
  })

  it.each([0, 70_000])('a datagram to port %i fails by its callback and does not throw', async (port) => {
    const failed = new Promise<string>((resolve) => {
      transport.flow(address, port).send(Buffer.from('x'), resolve)
    })
    expect(await failed).toContain('Port')
  })

  it.each([
    ['another family', address === '::1' ? '192.0.2.1' : '2001:db8::1', Buffer.from('x')],
    ['more than a datagram holds', address, Buffer.alloc(70_000)],
  ])('%s fails by its callback', async (_what, to, bytes) => {
    const failed = new Promise<string>((resolve) => transport.flow(to, 5060).send(bytes, resolve))
    expect(await failed).toMatch(/^send E/)
  })

  it('an internal error loses one message only', async () => {
    const error = new Error('broken')
    const received = sink.received.bind(sink)
    sink.received = () => {
      sink.received = received
      throw error
    }
    say(inviteText)
    say(inviteText)
    await sink.flow()
    expect([sink.errors, sink.messages.length]).toEqual([[error], 1])
  })

  it('every send fails after closing', async () => {
    const flow = transport.flow(address, 5060)
    await transport.close()
    expect(flow.isClosed).toBe(true)
    expect(await new Promise((resolve) => flow.send(Buffer.from('x'), resolve))).toBe(
      'the transport is closed',
    )
  })
})

it('both families can bind the same port on all addresses', async () => {
  const [four, six] = ['0.0.0.0', '::'].map(
    (address) => new UdpTransport(address, new TestSink(), defaultMessageLimits, openGate),
  ) as [UdpTransport, UdpTransport]
  await four.open('0.0.0.0', 0)
  await six.open('::', four.local.port)
  expect(six.local.port).toBe(four.local.port)
  await Promise.all([four.close(), six.close()])
})
