import { createSocket } from 'node:dgram'
import { expect, it } from 'vitest'
import { SystemClock } from '../clock.ts'
import { Agent } from './agent.ts'
import { inviteText } from './testing/messages.ts'
import { generator, mutate } from './testing/mutate.ts'

const probe = inviteText
  .replaceAll('INVITE', 'OPTIONS')
  .replace('a84b4c76e66710', 'last')
  .replace('K776asdhds', 'Klast')

it('serves on after 2,000 damaged requests and responses, without a fault within', async () => {
  const faults: unknown[] = []
  const clock = new SystemClock()
  const agent = new Agent({ secret: 'x', clock, fault: (error) => faults.push(error) })
  await agent.start([{ transport: 'udp', address: '127.0.0.1', port: 0 }])
  const port = agent.addresses[0]?.port ?? 0
  const socket = createSocket('udp4')
  const random = generator(4711)
  const methods = ['INVITE', 'ACK', 'CANCEL', 'BYE', 'UPDATE', 'REGISTER']
  const send = (bytes: Buffer | string) =>
    new Promise<void>((resolve) => socket.send(bytes, port, '127.0.0.1', () => resolve()))
  for (let i = 0; i < 2_000; i++) {
    const method = methods[i % methods.length] as string
    const request = inviteText.replaceAll('INVITE', method)
    const text = i % 7 === 0 ? request.replace(/^.*\r\n/, 'SIP/2.0 200 OK\r\n') : request
    await send(mutate(Buffer.from(text), random))
  }
  const answered = new Promise<void>((resolve) =>
    socket.on('message', (bytes) => bytes.includes('Call-ID: last@') && resolve()),
  )
  await send(probe)
  await answered
  expect(faults).toEqual([])
  socket.close()
  await agent.close()
  expect([agent.stats.transactions, agent.stats.pending, clock.running]).toEqual([0, 0, 0])
})
