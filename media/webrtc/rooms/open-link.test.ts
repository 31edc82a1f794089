import type { types } from 'mediasoup'
import { describe, expect, it, vi } from 'vitest'
import { openLink } from './open-link.ts'

const setUp = () => {
  const transport = { close: vi.fn() }
  const router = { createDirectTransport: async () => transport, closed: false }
  const opening = Promise.withResolvers<{ close(): void }>()
  const end = { close: vi.fn() }
  const onOpen = vi.fn()
  const onFault = vi.fn()
  const close = openLink(router as unknown as types.Router, () => opening.promise, onOpen, onFault)
  return { transport, opening, end, onOpen, onFault, close }
}

describe('a link', () => {
  it('hands over what was opened', async () => {
    const { transport, opening, end, onOpen } = setUp()
    opening.resolve(end)
    await vi.waitFor(() => expect(onOpen).toHaveBeenCalledWith({ transport, end }))
    expect(end.close).not.toHaveBeenCalled()
  })

  it('closes a consumer that opens after its transport was closed', async () => {
    const { transport, opening, end, onOpen, onFault, close } = setUp()
    // The transport is open, and the consumer is not yet.
    await Promise.resolve()
    close()
    expect(transport.close).toHaveBeenCalledOnce()
    opening.resolve(end)
    await vi.waitFor(() => expect(end.close).toHaveBeenCalledOnce())
    expect(onOpen).not.toHaveBeenCalled()
    expect(onFault).not.toHaveBeenCalled()
  })
})
