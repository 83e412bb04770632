//! The tensors of a model's weight files by role.

use leptos::prelude::*;
use report::output::words::weights::RoleText;

use super::ModelContext;
use crate::components::erased::{block, memo};
use crate::components::table_frame::{TableFrame, heads};
use crate::state::model::tensors::{TensorTable, table};

/// Columns of the table.
const COLUMNS: [&str; 6] = ["Role", "Tensors", "Weights", "Size", "Bits per weight", "Types"];

/// The table of a model that was read from weight files; empty for others.
#[component]
pub fn Tensors() -> impl IntoView {
    let inputs = expect_context::<ModelContext>().inputs;
    let table = memo(move |_| inputs.with(|inputs| table(&inputs.model)));
    block(move || table.get().map(|table| section(table).into_any()).into_any())
}

fn section(table: TensorTable) -> impl IntoView {
    let rows = table.rows.into_iter().map(row).collect_view();
    view! {
        <section class="tensors" aria-label="Weights in the files">
            <h2>"Weights in the files" <small>{table.caption}</small></h2>
            <TableFrame label="Weights in the files by role" class="formats roles" heads=heads(COLUMNS)>
                <tbody>{rows}</tbody>
            </TableFrame>
        </section>
    }
}

fn row(row: RoleText) -> impl IntoView {
    let RoleText { role, tensors, parameters, count, size, bits, types, bytes } = row;
    view! {
        <tr>
            <th scope="row">{role}</th>
            <td>{tensors}</td>
            <td title=parameters>{count}</td>
            <td title=format!("{bytes} B")>{size}</td>
            <td>{bits}</td>
            <td class="types">{types}</td>
        </tr>
    }
}
