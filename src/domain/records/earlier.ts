/** Fields inside records that an earlier version wrote under another name. */
const RENAMED: Record<string, { in: string; from: string; to: string }[]> = {
  missions: [{ in: 'scheduled', from: 'slot', to: 'cron_time' }],
  schedules: [{ in: 'last', from: 'slot', to: 'cron_time' }],
}

/** Renames the fields that an earlier version wrote. */
export function rename(collection: string, record: Record<string, unknown>): void {
  for (const { in: field, from, to } of RENAMED[collection] ?? []) {
    const value = record[field]
    if (typeof value !== 'object' || value === null || !(from in value)) continue
    const { [from]: held, ...rest } = value as Record<string, unknown>
    record[field] = { [to]: held, ...rest }
  }
}
