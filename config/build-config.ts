import { resolve } from 'node:path'
import { buildAgents } from './build-agents.ts'
import { endpointName, type FileConfig, subscriberName } from './file-config.ts'
import { fromSchema } from './from-schema.ts'
import type { HandlerLoader } from './handler-loader.ts'
import { canonicalHost } from './networks.ts'
import { projectsOf } from './projects.ts'
import { configSchema } from './schema/config-schema.ts'
import type { http as httpSchema } from './schema/http-schema.ts'
import type { LoadedValue } from './schema/values.ts'
import { sdkHosts } from './sdk-hosts.ts'
import type { Config } from './types.ts'

/**
 * Returns the configuration for the values of a file. The schema converts all keys that are not named here.
 */
export const buildConfig = (file: FileConfig, handlers: HandlerLoader): Config => {
  const { folder } = handlers
  const loaded = fromSchema(file, configSchema, folder)
  return {
    ...loaded,
    projects: projectsOf(file),
    dataDir: resolve(folder, file.dataDir),
    agents: buildAgents(loaded.agents),
    http: buildHttp(loaded.http, folder),
    domains: loaded.domains.map(({ handler, ...domain }, i) => ({
      ...domain,
      domain: canonicalHost(domain.domain),
      ...(handler && { handler: handlers.load(handler, ['domains', i, 'handler']) }),
    })),
    carriers: loaded.carriers.map((carrier) => ({ ...carrier, project: carrier.project ?? file.project })),
    endpoints: loaded.endpoints.map(({ handler, ...endpoint }, i) => ({
      ...endpoint,
      name: endpointName(endpoint),
      ...(handler && { handler: handlers.load(handler, ['endpoints', i, 'handler']) }),
    })),
    subscribers: loaded.subscribers.map((subscriber) => ({
      ...subscriber,
      name: subscriberName(subscriber),
    })),
    resources: loaded.resources.map(({ handler, ...resource }, i) => ({
      ...resource,
      handler: handlers.load(handler, ['resources', i, 'handler']),
    })),
  }
}

const buildHttp = (
  { plain, tls, ...http }: LoadedValue<typeof httpSchema>,
  folder: string,
): Config['http'] => {
  const at = (path: string | undefined) => (path === undefined ? undefined : resolve(folder, path))
  return {
    ...http,
    plain: typeof plain === 'object' && plain,
    tls: typeof tls === 'object' && {
      ...tls,
      hosts: tls.hosts ?? sdkHosts(http.publicHost),
      ...(tls.certificate && { certificate: at(tls.certificate), key: at(tls.key) }),
    },
  }
}
