import { domainEntryOf } from '../index/domains.ts'
import { entryOf } from '../index/entry.ts'
import { Memory, type NumberTarget } from '../index/memory.ts'
import type { Declared } from './declared.ts'
import { domainValues } from './domains.ts'

/** Returns a directory of the file's declarations alone, without a store. Ids are the names in the file. */
export const memoryOf = ({ domains, resources }: Declared, numberTarget: NumberTarget): Memory => {
  const memory = new Memory(numberTarget)
  const times = { created_at: 0, updated_at: 0 }
  for (const each of domains)
    memory.domains.put(
      domainEntryOf({ id: each.domain, domain: each.domain, ...times, ...domainValues(each) }),
    )
  for (const { projectId, type, context, name, displayName, details, person, phone } of resources) {
    const id = phone?.username ?? `/${context}/${name}`
    memory.contents.put(
      entryOf({
        id,
        project_id: projectId,
        type,
        display_name: displayName,
        managed_by_file: 1,
        ...times,
        details_json: JSON.stringify(details),
        address_id: `${projectId} ${id}`,
        context,
        name,
        email: person?.email ?? null,
        username: phone?.username ?? null,
        secrets_json: phone ? JSON.stringify(phone.secrets) : null,
        password_hash: null,
        disabled: 0,
        tokens_after: 0,
        push_key: null,
        do_not_disturb: null,
        deployed_version: null,
        deployed_flow: null,
        deployed_script: null,
      }),
    )
  }
  return memory
}
