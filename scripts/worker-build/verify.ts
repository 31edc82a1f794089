/** Starts the worker like the gateway, and creates a router and transports. Rejects on any failure. */
export const verify = async (binary: string): Promise<void> => {
  // mediasoup reads this when it is imported.
  process.env.MEDIASOUP_WORKER_BIN = binary
  const { createWorker } = await import('mediasoup')
  const worker = await createWorker({ logLevel: 'error' })
  try {
    const router = await worker.createRouter({
      mediaCodecs: [{ kind: 'audio', mimeType: 'audio/PCMU', clockRate: 8000 }],
    })
    const transport = await router.createPlainTransport({ listenIp: '127.0.0.1', enableSrtp: true })
    if (!transport.srtpParameters?.keyBase64) throw new Error('the worker created no SRTP key')
    await router.createWebRtcTransport({ listenInfos: [{ protocol: 'udp', ip: '127.0.0.1' }] })
  } finally {
    worker.close()
  }
}
