import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import { releaseVersion } from '../core/version.ts'
import { builtFiles } from './built-files.ts'

/** One script of the SDK, as `/sdk/index.json` describes it. */
export interface SdkFile {
  /** Path that always has this content. */
  readonly path: string
  /** Length in bytes, uncompressed. */
  readonly bytes: number
  /** Value for the attribute `integrity` of a script tag (Subresource Integrity, W3C): SHA-384 in Base64. */
  readonly integrity: string
  /** Path of its declarations for TypeScript, if it has any. */
  readonly types?: string
}

/** Content of `/sdk/index.json`. */
export interface SdkIndex {
  /** Version of the SDK, which is the version of the gateway. */
  readonly version: string
  /** Scripts by name, such as `trunkline.js`. */
  readonly files: Readonly<Record<string, SdkFile>>
}

/**
 * Serves the browser SDK of a folder to pages of every origin. `/sdk/<version>/` has files that never change,
 * `/sdk/` those of the running release, and `/sdk/index.json` the hashes for the attribute `integrity`.
 */
export const serveSdk = async (scope: FastifyInstance, root: string): Promise<void> => {
  scope.addHook('onRequest', async (_request, reply) => {
    reply.headers({
      // Browsers check `integrity` only of scripts that every page may read.
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
    })
  })
  // By the extension alone, declarations would have the type of a video.
  scope.addHook('onSend', async ({ url }, reply) => {
    if (/\.d\.ts(\?|$)/.test(url) && reply.statusCode === 200) reply.type('text/plain; charset=utf-8')
  })
  const version = releaseVersion()
  const index = sdkIndex(root, version)
  scope.get('/sdk/index.json', { schema: { hide: true } }, async (_request, reply) =>
    reply.header('cache-control', 'no-cache').send(index),
  )
  await scope.register(fastifyStatic, { ...builtFiles(root), prefix: '/sdk/', index: false })
  await scope.register(fastifyStatic, {
    ...builtFiles(root, () => true),
    prefix: `/sdk/${version}/`,
    index: false,
  })
}

/** Describes the scripts of a folder. */
export const sdkIndex = (root: string, version: string): SdkIndex => {
  const names = readdirSync(root)
  const scripts = names.filter((name) => name.endsWith('.js'))
  const files = scripts.sort().map((name) => {
    const content = readFileSync(join(root, name))
    const integrity = `sha384-${createHash('sha384').update(content).digest('base64')}`
    const declarations = name.replace(/\.js$/, '.d.ts')
    const types = names.includes(declarations) && { types: `/sdk/${version}/${declarations}` }
    return [name, { path: `/sdk/${version}/${name}`, bytes: content.length, integrity, ...types }] as const
  })
  return { version, files: Object.fromEntries(files) }
}
