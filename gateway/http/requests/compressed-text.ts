import { promisify } from 'node:util'
import { brotliCompress, constants, createBrotliDecompress } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

const compress = promisify(brotliCompress)

/** Returns a text compressed with Brotli, at a level that takes some 20 ms for a megabyte. */
export const compressed = (text: string): Promise<Buffer> =>
  compress(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })

/** Sends a text that is compressed with Brotli; decompressed to clients that do not accept Brotli. */
export const sendCompressed = (
  { headers }: FastifyRequest,
  reply: FastifyReply,
  content: Buffer,
): FastifyReply => {
  reply.header('vary', 'accept-encoding')
  if (/(?:^|,)\s*br\s*(?:,|$)/.test(String(headers['accept-encoding'] ?? '')))
    return reply.header('content-encoding', 'br').send(content)
  const plain = createBrotliDecompress()
  plain.end(content)
  return reply.send(plain)
}
