import { Socket } from 'node:net'
import { expect, it } from 'vitest'
import { SocketWire } from './wire.ts'

it('reports the error that ended a socket, without advice for users of Node.js', async () => {
  const socket = new Socket()
  const reason = new Promise<string>((ended) => new SocketWire(socket, { data: () => {}, ended }))
  const advice = 'if the root CA is installed locally, try running Node.js with --use-system-ca'
  socket.destroy(new Error(`self-signed certificate; ${advice}`))
  expect(await reason).toBe('self-signed certificate')
})
