/** Worker thread that sends 50 packets per second from each socket and counts received packets. */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'

type Order = { readonly to: readonly number[] } | { readonly stop: true }

const { count } = workerData as { count: number }
let sent = 0
let received = 0

const open = async (): Promise<Socket> => {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 2 ** 20 })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  socket.on('message', (bytes) => {
    // RTCP is not counted.
    if (bytes.length === 172 || bytes.length === 188) received++
  })
  return socket
}

const sockets = await Promise.all(Array.from({ length: count }, open))
const packets = sockets.map((_, index) => {
  const packet = Buffer.alloc(172, 0xff)
  packet.writeUInt16BE(0x8000, 0)
  packet.writeUInt32BE(index + 1, 8)
  return packet
})

const send = (to: readonly number[]): NodeJS.Timeout => {
  const began = performance.now()
  let frames = 0
  return setInterval(() => {
    for (; frames < Math.floor((performance.now() - began) / 20); frames++) {
      sockets.forEach((socket, index) => {
        const packet = packets[index]!
        packet.writeUInt16BE(frames & 0xffff, 2)
        packet.writeUInt32BE((frames * 160) >>> 0, 4)
        socket.send(Buffer.from(packet), to[index] ?? 9, '127.0.0.1')
        sent++
      })
    }
  }, 5)
}

let timer: NodeJS.Timeout | undefined
parentPort?.on('message', (order: Order) => {
  if ('to' in order) {
    // Earlier packets are the gateway's opening packets, not relayed ones.
    received = 0
    timer = send(order.to)
  } else {
    clearInterval(timer)
    // Packets that are in flight when the measurement ends still count.
    setTimeout(() => parentPort?.postMessage({ sent, received }), 300)
  }
})
parentPort?.postMessage(sockets.map((socket) => socket.address().port))
