//! The weights of a model by role.

use leptos::prelude::*;
use report::output::words::weights::RoleText;

use super::ModelContext;
use crate::components::erased::{block, memo};
use crate::components::table_frame::{TableFrame, heads};
use crate::state::model::tensors::{RoleSize, TensorTable, computed, table};

/// Columns of the table.
const COLUMNS: [&str; 6] = ["Role", "Tensors", "Weights", "Size", "Bits per weight", "Types"];

/// The tensors of the files of a model that was read from them; for others the bytes that follow from geometry and formats.
#[component]
pub fn Tensors() -> impl IntoView {
    let inputs = expect_context::<ModelContext>().inputs;
    let table = memo(move |_| inputs.with(|inputs| table(&inputs.model)));
    let computed = memo(move |before: Option<&Option<Vec<RoleSize>>>| {
        let has_files = table.with(Option::is_some);
        let roles = inputs.with(|inputs| computed(&inputs.model, inputs.place()));
        roles.or(before.cloned().flatten().filter(|_| !has_files))
    });
    block(move || match table.get() {
        Some(table) => section(table).into_any(),
        None => computed.get().map(|roles| of_geometry(roles).into_any()).into_any(),
    })
}

fn of_geometry(roles: Vec<RoleSize>) -> impl IntoView {
    let row = |RoleSize { role, size, share }| {
        view! {
            <tr>
                <th scope="row">{role}</th>
                <td>{size}</td>
                <td>{share}</td>
            </tr>
        }
    };
    view! {
        <section class="weight-roles" aria-label="Weights by role">
            <h2>"Weights by role" <small>"of one device, its host included, from geometry and formats"</small></h2>
            <TableFrame label="Weights by role" class="formats role-sizes" heads=heads(["Role", "Size", "Share"])>
                <tbody>{roles.into_iter().map(row).collect_view()}</tbody>
            </TableFrame>
        </section>
    }
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
