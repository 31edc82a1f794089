import { pathOf } from '../model/address-path.ts'
import { defaultSilence } from '../model/agent-script.ts'
import type { Entry } from './entry.ts'

/** Resources of one project. */
class OfProject {
  /** By id, in the order of creation. */
  readonly entries = new Map<string, Entry>()
  readonly byPath = new Map<string, Entry>()
  /** Subscribers by e-mail in lower case. */
  readonly byEmail = new Map<string, Entry>()
  /** Number of subscribers that the API created. */
  people = 0
  others = 0
}

/** All resources in memory, indexed by every key that is looked up. An entry is replaced as a whole. */
export class Contents {
  /** Turn-taking of agents without their own. */
  silence = defaultSilence
  #byId = new Map<string, Entry>()
  #byAddressId = new Map<string, Entry>()
  #byUsername = new Map<string, Entry>()
  #projects = new Map<string, OfProject>()

  get size(): number {
    return this.#byId.size
  }

  byId(id: string): Entry | undefined {
    return this.#byId.get(id)
  }

  byAddressId(id: string): Entry | undefined {
    return this.#byAddressId.get(id)
  }

  byAddress(
    projectId: string,
    address: { readonly context: string; readonly name: string },
  ): Entry | undefined {
    return this.#projects.get(projectId)?.byPath.get(pathOf(address))
  }

  byEmail(projectId: string, email: string): Entry | undefined {
    return this.#projects.get(projectId)?.byEmail.get(email.toLowerCase())
  }

  byUsername(username: string): Entry | undefined {
    return this.#byUsername.get(username)
  }

  /** Returns the entries of a project, in the order of creation. */
  ofProject(projectId: string): Iterable<Entry> {
    return this.#projects.get(projectId)?.entries.values() ?? []
  }

  /** Returns the number of subscribers (`people`) or of other resources that the API created. */
  made(projectId: string, people: boolean): number {
    return this.#projects.get(projectId)?.[people ? 'people' : 'others'] ?? 0
  }

  put(entry: Entry): void {
    const { resource, subscriber, endpoint } = entry
    const { id, projectId, address } = resource
    this.#forget(id)
    const project = this.#projects.get(projectId) ?? new OfProject()
    this.#projects.set(projectId, project)
    count(project, entry, 1)
    this.#byId.set(id, entry)
    this.#byAddressId.set(address.id, entry)
    project.entries.set(id, entry)
    project.byPath.set(pathOf(address), entry)
    if (subscriber) project.byEmail.set(subscriber.email, entry)
    if (endpoint) this.#byUsername.set(endpoint.username, entry)
  }

  remove(id: string): void {
    const projectId = this.#byId.get(id)?.resource.projectId
    this.#forget(id)
    this.#byId.delete(id)
    if (projectId !== undefined) this.#projects.get(projectId)?.entries.delete(id)
  }

  ids(): Iterable<string> {
    return this.#byId.keys()
  }

  /** Removes an entry's keys from the indexes, except keys that now belong to another entry. */
  #forget(id: string): void {
    const before = this.#byId.get(id)
    const project = before && this.#projects.get(before.resource.projectId)
    if (!project) return
    count(project, before, -1)
    const { address } = before.resource
    drop(this.#byAddressId, address.id, before)
    drop(project.byPath, pathOf(address), before)
    if (before.subscriber) drop(project.byEmail, before.subscriber.email, before)
    if (before.endpoint) drop(this.#byUsername, before.endpoint.username, before)
  }
}

const count = (project: OfProject, { resource: { type, managedByFile } }: Entry, by: 1 | -1): void => {
  if (!managedByFile) project[type === 'subscriber' ? 'people' : 'others'] += by
}

const drop = (map: Map<string, Entry>, key: string, entry: Entry): void => {
  if (map.get(key) === entry) map.delete(key)
}
