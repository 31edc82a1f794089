import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it, onTestFinished } from 'vitest'
import { blockSize, freePort, freePortRange, leaseRtpRange } from './free-ports.ts'

const ephemeralFrom = Number.parseInt(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'), 10)

const bindUdp = async (port: number, address = '127.0.0.1') => {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4').bind({
    port,
    address,
    exclusive: true,
  })
  onTestFinished(() => void socket.close())
  await once(socket, 'listening')
}

const listenTcp = async (port: number, host = '127.0.0.1') => {
  const server = createServer().listen({ port, host, exclusive: true })
  onTestFinished(() => void server.close(() => {}))
  await once(server, 'listening')
}

/**
 * Runs a script in another process until it prints its ports as a line of JSON.
 * The process lives on, until `kill` or the end of the test.
 */
const inProcess = async (script: string) => {
  const module = JSON.stringify(join(import.meta.dirname, 'free-ports.ts'))
  const source = `import { freePort, leaseRtpRange } from ${module}\n${script}\nsetInterval(() => {}, 1_000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = once(child, 'close')
  const kill = async () => {
    child.kill('SIGKILL')
    await closed
  }
  onTestFinished(kill)
  for await (const line of createInterface({ input: child.stdout }))
    return { kill, ports: JSON.parse(line) as number[] }
  throw new Error('the process ended')
}

it('returns ports below those of the system, each once', async () => {
  const ports = await Promise.all(Array.from({ length: 3 * blockSize }, freePort))
  expect(new Set(ports).size).toBe(ports.length)
  expect(Math.min(...ports)).toBeGreaterThan(10_000)
  expect(Math.max(...ports)).toBeLessThan(Math.min(30_000, ephemeralFrom))
})

it.each([
  ['UDP on loopback', (port: number) => bindUdp(port)],
  ['UDP on another address of loopback', (port: number) => bindUdp(port, '127.0.0.9')],
  ['UDP over IPv6', (port: number) => bindUdp(port, '::1')],
  ['TCP on every address', (port: number) => listenTcp(port, '0.0.0.0')],
  ['TCP over IPv6', (port: number) => listenTcp(port, '::1')],
])('skips a port in use: %s', async (_, use) => {
  let { from } = await freePortRange(2)
  // Ports come in order, so that the next one is known, except at the end of a block.
  while ((from + 2) % blockSize === 0) from = (await freePortRange(2)).from
  await use(from + 2)
  expect(await freePort()).not.toBe(from + 2)
})

it('returns ranges that begin at an even port', async () => {
  await freePort()
  const first = await freePortRange(7)
  const second = await freePortRange(4)
  expect([first.from % 2, second.from % 2]).toEqual([0, 0])
  expect([first.to - first.from, second.to - second.from]).toEqual([6, 3])
  expect(second.from > first.to || second.to < first.from).toBe(true)
})

it('keeps processes apart that run at the same time', async () => {
  const script = `
    const ports = []
    for (let i = 0; i < 120; i++) ports.push(await freePort())
    const { from, to } = await leaseRtpRange(300)
    for (let port = from; port <= to; port++) ports.push(port)
    console.log(JSON.stringify(ports))`
  const own = await freePort()
  const found = await Promise.all([1, 2, 3].map(() => inProcess(script)))
  const ports = [own, ...found.flatMap((each) => each.ports)]
  expect(new Set(ports).size).toBe(1 + 3 * 420)
})

it('loses the ports of a process that is killed', async () => {
  const script = 'console.log(JSON.stringify([(await leaseRtpRange(150)).from]))'
  const { ports, kill } = await inProcess(script)
  const [lock = 0] = ports
  for (const port of [lock, lock + blockSize])
    await expect(listenTcp(port)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await kill()
  for (const port of [lock, lock + blockSize]) await listenTcp(port)
})

it('holds a range of RTP ports until its release', async () => {
  const lease = await leaseRtpRange(150)
  expect([lease.from % 2, lease.to - lease.from]).toEqual([0, 149])
  await expect(listenTcp(lease.from)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  lease.release()
  lease.release()
  await listenTcp(lease.from)
})

it('says so if no range is free', async () => {
  await expect(leaseRtpRange(60_000)).rejects.toThrow('no 60000 free ports in a row')
})
