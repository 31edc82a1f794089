import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { listenError, StartError } from './start-error.ts'

const taken = new Error('bind EADDRINUSE 127.0.0.1:1')

it('of a taken TCP port names the key and the process that listens', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const error = listenError({ key: 'http.plain', protocol: 'tcp', address: '127.0.0.1', port }, taken)
  server.close()
  expect(error).toBeInstanceOf(StartError)
  expect(error.key).toBe('http.plain')
  expect(error.message).toContain(
    `http.plain: cannot listen on tcp 127.0.0.1:${port}: the port is taken by process ${process.pid} (`,
  )
})

it('of a taken UDP port names the process, also for IPv6', async () => {
  const socket = createSocket('udp6').bind(0, '::1')
  await once(socket, 'listening')
  const { port } = socket.address()
  const at = { key: 'sip.listen[0]', protocol: 'udp', address: '::1', port } as const
  const { message } = listenError(at, taken)
  socket.close()
  expect(message).toContain(`sip.listen[0]: cannot listen on udp [::1]:${port}: the port is taken by process`)
  expect(message).not.toContain('EADDRINUSE')
})

it.each([
  ['listen EADDRNOTAVAIL: address not available', 'this machine does not have the address.'],
  ['listen EACCES: permission denied', 'this user may not use the port; ports below 1024 need'],
  ['a reason of its own', ': a reason of its own'],
])('for %s says %s', (reason, words) => {
  const at = { key: 'http.tls', protocol: 'tcp', address: '192.0.2.1', port: 443 } as const
  expect(listenError(at, new Error(reason)).message).toContain(words)
})
