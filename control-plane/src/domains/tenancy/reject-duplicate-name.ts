import { isDatabaseError } from '../../platform/db/database.ts';
import { Problem } from '../../platform/http/problem.ts';

const UNIQUE_VIOLATION = '23505';

/** Runs a write that the database refuses if the name is in use. */
export async function rejectDuplicateName<T>(name: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isDatabaseError(error, UNIQUE_VIOLATION)) throw error;
    throw new Problem('name_taken', `The name “${name}” is in use.`, {
      errors: [{ pointer: '/name', detail: 'is in use' }],
    });
  }
}
